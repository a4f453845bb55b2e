"""What somebody tries who has taken over the worker. An attack returns if it worked, and raises OSError if not."""

import ctypes
import json
import mmap
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_NEW_USER_AND_NETWORK = 0x50000000
_MOST_OPEN_FILES = 4_096


@dataclass(frozen=True, slots=True)
class Target:
    """What there is to attack: a file of ours, its folder, a listening port, the bot's process."""

    file: str
    port: int
    bot: int


def _checked(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _raw(x86_64: int, aarch64: int, *arguments: int) -> None:
    number = x86_64 if os.uname().machine == "x86_64" else aarch64
    _checked(_LIBC.syscall(number, *(ctypes.c_long(each) for each in arguments)))


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC)


def _mapped(path: str, flags: int) -> None:
    mmap.mmap(_opened(path, flags), 1, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)[:1] = b"X"


def _beside(target: Target, name: str) -> str:
    return os.path.join(os.path.dirname(target.file), name)


def _fork(target: Target) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _connect(target: Target) -> None:
    socket.create_connection(("127.0.0.1", target.port), 5).close()


def _send_datagram(target: Target) -> None:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"secret", ("127.0.0.1", target.port))


def _bind_abstract_name(target: Target) -> None:
    socket.socket(socket.AF_UNIX).bind(f"\0marginalia-test-{os.getpid()}")


def _own_signals_elsewhere(target: Target) -> None:
    import fcntl

    fcntl.fcntl(0, fcntl.F_SETOWN, target.bot)


def _read_memory(target: Target) -> None:
    class Span(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))

    here = ctypes.create_string_buffer(8)
    span = Span(ctypes.addressof(here), 8)
    _checked(_LIBC.process_vm_readv(target.bot, ctypes.byref(span), 1, ctypes.byref(span), 1, 0))


def _more_open_files(target: Target) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (_MOST_OPEN_FILES, _MOST_OPEN_FILES))


WITHOUT_RIGHTS: dict[str, Callable[[Target], object]] = {
    "read a file of ours": lambda target: os.read(_opened(target.file, os.O_RDONLY), 1),
    "list a folder of ours": lambda target: os.listdir(os.path.dirname(target.file)),
    "list the root": lambda target: os.listdir("/"),
    "read the bot's command line": lambda target: os.read(_opened(f"/proc/{target.bot}/cmdline", os.O_RDONLY), 1),
    "read its own command line": lambda target: os.read(_opened("/proc/self/cmdline", os.O_RDONLY), 1),
    "write a file of ours": lambda target: os.write(_opened(target.file, os.O_WRONLY), b"X"),
    "write it by mmap": lambda target: _mapped(target.file, os.O_RDWR),
    "make a file": lambda target: _opened(_beside(target, "made"), os.O_WRONLY | os.O_CREAT),
    "make a file without a name": lambda target: _opened("/tmp", os.O_RDWR | os.O_TMPFILE),
    "make a file in memory": lambda target: os.memfd_create("made"),
    "truncate": lambda target: os.truncate(target.file, 1),
    "truncate when opening": lambda target: _opened(target.file, os.O_RDONLY | os.O_TRUNC),
    "change the mode": lambda target: os.chmod(target.file, 0o666),
    "change the times": lambda target: os.utime(target.file),
    "link": lambda target: os.link(target.file, _beside(target, "linked")),
    "symlink": lambda target: os.symlink(target.file, _beside(target, "symlink")),
    "make a pipe with a name": lambda target: os.mkfifo(_beside(target, "pipe")),
    "make a folder": lambda target: os.mkdir(_beside(target, "folder")),
    "rename": lambda target: os.rename(target.file, _beside(target, "renamed")),
    "unlink": lambda target: os.unlink(_beside(target, "renamed")),
    "connect": _connect,
    "send a datagram": _send_datagram,
    "bind an abstract name": _bind_abstract_name,
    "fork": _fork,
    "start a program": lambda target: os.posix_spawn("/bin/true", ["true"], {}),
    "become a program": lambda target: os.execv("/nowhere/true", ["true"]) if _may_exec() else None,
    "signal the bot": lambda target: os.kill(target.bot, 0),
    "signal itself": lambda target: os.kill(os.getpid(), 0),
    "signal everybody": lambda target: os.kill(os.getppid(), signal.SIGCONT),
    "signal by a descriptor": lambda target: os.pidfd_open(target.bot),
    "have signals sent to the bot": _own_signals_elsewhere,
    "slow the bot down": lambda target: os.setpriority(os.PRIO_PROCESS, target.bot, 0),
    "watch files": lambda target: _checked(_LIBC.inotify_init1(0)),
    "work by io_uring": lambda target: _io_uring(),
    "a new pipe": lambda target: os.pipe(),
    "a pair of sockets": lambda target: socket.socketpair(),
}
"""Attacks that any process can make on one of the same user, unless something forbids it; in this order."""

WITH_RIGHTS: dict[str, Callable[[Target], object]] = {
    "trace the bot": lambda target: _raw(101, 117, 0x4206, target.bot, 0, 0),
    "read the bot's memory": _read_memory,
    "read the bot's environment": lambda target: os.read(_opened(f"/proc/{target.bot}/environ", os.O_RDONLY), 1),
    "write the bot's memory": lambda target: _opened(f"/proc/{target.bot}/mem", os.O_RDWR),
    "write a library by mmap": lambda target: _mapped(json.__file__, os.O_RDONLY),
    "take the bot's descriptors": lambda target: _raw(438, 438, 0, 0, 0),
    "other namespaces": lambda target: _checked(_LIBC.unshare(_NEW_USER_AND_NETWORK)),
    "mount": lambda target: _checked(_LIBC.mount(b"none", b"/mnt", b"tmpfs", 0, None)),
    "another root": lambda target: os.chroot("/"),
    "another user": lambda target: os.setuid(0),
    "a raw socket": lambda target: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
    "load a program into the kernel": lambda target: _raw(321, 280, 0, 0, 0),
    "measure other processes": lambda target: _raw(298, 241, 0, target.bot, -1, -1, 0),
    "the kernel's keys": lambda target: _raw(250, 219, 0, -3, 0),
    "a session of its own": lambda target: os.setsid(),
    "raise a limit": _more_open_files,
    "limit the bot": lambda target: resource.prlimit(target.bot, resource.RLIMIT_CORE, (0, 0)),
    "be dumped": lambda target: _checked(_LIBC.prctl(4, 1, 0, 0, 0)),
}
"""Attacks that may fail for other reasons, too."""


def _may_exec() -> bool:
    """Refused by the filter is EPERM; where there is no filter, the missing file is what is complained about."""
    try:
        os.execv("/nowhere/true", ["true"])
    except FileNotFoundError:
        return False
    return True


def _io_uring() -> None:
    parameters = ctypes.create_string_buffer(120)
    _raw(425, 425, 1, ctypes.addressof(parameters))


def main() -> None:
    """Try every attack on the target that standard input names, and write to standard output what came of each."""
    tell(sys.stdin.buffer.readline())


def tell(line: bytes) -> None:
    """As `main`, on the target that the line names."""
    target = Target(**json.loads(line))
    met = {name: _met(attack, target) for name, attack in (WITHOUT_RIGHTS | WITH_RIGHTS).items()}
    sys.stdout.write(json.dumps(met))
    sys.stdout.flush()


def _met(attack: Callable[[Target], object], target: Target) -> str:
    try:
        attack(target)
    except (OSError, ValueError) as error:  # a ValueError is what `resource` makes of a refusal
        return str(error)
    return ""


def prepared(folder: Path, port: int) -> Target:
    """A target with a file to attack."""
    file = folder / "marginalia.db"
    file.write_text("secret")
    return Target(str(file), port, os.getpid())
