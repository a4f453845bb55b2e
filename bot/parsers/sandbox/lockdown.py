"""Removes from the processes that handle a stranger's book everything they do not need, by the means of the kernel.

Landlock leaves it read access to the folders of the interpreter and the libraries, and to no other file. seccomp
leaves it a short list of system calls: none of them opens a file for writing, a socket or a process, or reaches
another process. Its own network namespace has no network. `no_new_privs` makes all of this final. Each part is used if
the kernel supports it; without Landlock, seccomp forbids opening any file, so all libraries have to be imported
before. The process that indexes a book keeps even less (`shut_in`).
"""

import ctypes
import errno
import os
import resource
import stat
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_IS_LINUX = sys.platform == "linux"

_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_CAPABILITY_VERSION = 0x20080522


@dataclass(frozen=True, slots=True)
class Confinement:
    """How a process was confined; `landlock` is the version of the kernel's interface, 0 for none."""

    landlock: int = 0
    seccomp: bool = False
    no_new_privs: bool = False
    network: bool = False


def lock_down(code: Sequence[str]) -> Confinement:
    """Confine this process for good.

    Of all files, it can read those below the paths in `code`, or none if the kernel has no Landlock. Without `code`, it
    can open no file at all.

    Raises:
        RuntimeError: it has other threads, which would not be confined.
    """
    if not _IS_LINUX:
        return Confinement()
    _assert_one_thread()
    network = _leave_network()
    landlock = _restrict_files(code)
    _drop_capabilities()
    no_new_privs = _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    return Confinement(landlock, _filter_calls(may_open=landlock > 0 and len(code) > 0), no_new_privs, network)


FIXED_LIMITS = {
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_NOFILE: 64,
    resource.RLIMIT_NPROC: 0,
    resource.RLIMIT_MEMLOCK: 0,
}
"""No files written, no memory dumped, few files opened, no processes started, no memory locked."""


def limit(bounds: Mapping[int, int]) -> None:
    """Limits that hold even if the bot dies."""
    for kind, bound in bounds.items():
        with suppress(ValueError, OSError):  # not every system has every limit
            resource.setrlimit(kind, (bound, bound))


def shut_in() -> Confinement:
    """Confine this process to its memory and the descriptors it has: it can open no file, not even to import a module.

    Raises:
        RuntimeError: see `lock_down`.
    """
    limit(FIXED_LIMITS)
    return lock_down(())


def _assert_one_thread() -> None:
    with suppress(FileNotFoundError):  # no /proc here
        if len(list(Path("/proc/self/task").iterdir())) > 1:
            raise RuntimeError("a process with other threads cannot be locked down")


def knows_landlock() -> bool:
    """Whether the kernel supports Landlock."""
    return _IS_LINUX and _landlock_version() > 0


def hide_memory() -> bool:
    """Keep other processes of the same user from reading this one's memory and environment; returns
    whether it worked.
    """
    return _IS_LINUX and _prctl(_PR_SET_DUMPABLE, 0)


def code_folders(paths: Iterable[str]) -> list[str]:
    """The folders with code: those entries of `sys.path`, and those of the system's shared libraries.

    An entry that is neither the standard library nor `site-packages` may be anything, such as the bot's working
    directory with its settings: only the packages in it count.
    """
    folders = [*_SYSTEM_LIBRARIES, *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    standard = Path(os.__file__).parent
    for path in map(Path, paths):
        is_all_code = path.name in ("site-packages", "dist-packages") or path.is_relative_to(standard)
        folders += [str(path)] if is_all_code else _packages(path)
    # A relative entry of a search path would be below "/", where a worker starts.
    return [folder for folder in dict.fromkeys(folders) if folder.startswith("/")]


_SYSTEM_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")


def _packages(folder: Path) -> list[str]:
    with suppress(OSError):  # not every entry of a search path is a folder
        return [str(path) for path in folder.iterdir() if (path / "__init__.py").exists()]
    return []


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int, pointer: "ctypes.Array[ctypes.c_char] | None" = None) -> bool:
    zero = ctypes.c_ulong(0)
    return bool(_libc().prctl(option, ctypes.c_ulong(value), pointer or zero, zero, zero) == 0)


def _leave_network() -> bool:
    """Enter a new network namespace, which has nothing but an inactive loopback."""
    libc = _libc()
    if not hasattr(libc, "unshare"):
        return False
    return any(libc.unshare(flags) == 0 for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))


def _drop_capabilities() -> None:
    """Give up root's privileges, and those in a new user namespace."""
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _libc().capset(header, bytes(24))


# Landlock: linux/landlock.h

_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_ADD_RULE = 445
_LANDLOCK_RESTRICT_SELF = 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
_FILE_RIGHTS = ((1, 13), (2, 14), (3, 15), (5, 16))
"""Kernel version of Landlock, and the number of rights on files it knows."""
_NETWORK_RIGHTS = 0b11
_SCOPES = 0b11
_RULESET_SIZES = ((1, 8), (4, 16), (6, 24))


def _landlock_version() -> int:
    version = _libc().syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _CREATE_RULESET_VERSION)
    return max(0, int(version))


def _restrict_files(readable: Sequence[str]) -> int:
    """Allow reading below some folders, and no other access to files; returns the version of Landlock, or 0 without
    it.
    """
    version = _landlock_version()
    if version == 0:
        return 0
    libc = _libc()
    rights = (1 << _newest(_FILE_RIGHTS, version)) - 1
    attributes = struct.pack("=QQQ", rights, _NETWORK_RIGHTS, _SCOPES)
    size = ctypes.c_size_t(_newest(_RULESET_SIZES, version))
    ruleset = libc.syscall(_LANDLOCK_CREATE_RULESET, attributes, size, 0)
    if ruleset < 0:
        return 0
    try:
        for path in readable:
            _allow_reading(libc, ruleset, path)
        if not _prctl(_PR_SET_NO_NEW_PRIVS, 1) or libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0) != 0:
            return 0
    finally:
        os.close(ruleset)
    return version


def _newest(table: tuple[tuple[int, int], ...], version: int) -> int:
    return max(value for since, value in table if since <= version)


def _allow_reading(libc: ctypes.CDLL, ruleset: int, path: str) -> None:
    with suppress(OSError):  # not every entry of a search path exists
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rights = _READ_FILE | _READ_DIR if stat.S_ISDIR(os.fstat(folder).st_mode) else _READ_FILE
            rule = struct.pack("=Qi", rights, folder)
            libc.syscall(_LANDLOCK_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
        finally:
            os.close(folder)


# seccomp: linux/seccomp.h, linux/filter.h, and the numbers of system calls by machine

_LOAD_WORD = 0x20
_JUMP_IF_EQUAL = 0x15
_JUMP_IF_ANY_BIT = 0x45
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | errno.EPERM
_UNKNOWN = 0x00050000 | errno.ENOSYS
_WORD = 8
"""Bytes of an argument; 32-bit machines have other calls."""
_CALL, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
"""Offsets in `struct seccomp_data`."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_FCNTL_COMMANDS = (0, 1, 2, 3, 1030)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC; F_SETOWN would send signals."""
_IOCTL_COMMANDS = (0x5401, 0x5450, 0x5451, 0x541B)
"""TCGETS, FIONCLEX, FIOCLEX, FIONREAD."""


_MACHINES = (("x86_64", 0xC000003E), ("aarch64", 0xC00000B7))
"""Names of machines, and their seccomp constants, in the order of the numbers below."""
_ALLOWED = {
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "pread64": (17, 67),
    "close": (3, 57),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "lseek": (8, 62),
    "fstat": (5, 80),
    "stat": (4, None),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getcwd": (79, 17),
    "getdents64": (217, 61),
    "mmap": (9, 222),
    "munmap": (11, 215),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "brk": (12, 214),
    "membarrier": (324, 283),
    "futex": (202, 98),
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "getrusage": (98, 165),
    "getrlimit": (97, 163),
    "getrandom": (318, 278),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "sysinfo": (99, 179),
    "uname": (63, 160),
    "wait4": (61, 260),
    "exit": (60, 93),
    "exit_group": (231, 94),
}
"""System calls needed for reading and indexing, with their number by machine; None if a machine has no such call."""
_OPENING = {"open": ((2, None), 1), "openat": ((257, 56), 2)}
"""Numbers by machine, and the index of the argument with the flags."""
_FCNTL, _IOCTL, _PRLIMIT = (72, 25), (16, 29), (302, 261)
_CLONE3 = 435
"""Reported as unknown, so that the C library falls back to `clone`, which is forbidden."""


def _filter_calls(*, may_open: bool) -> bool:
    """Forbid all system calls but those needed for reading and indexing; False if the machine's calls are unknown."""
    names = [name for name, _ in _MACHINES]
    if os.uname().machine not in names or ctypes.sizeof(ctypes.c_void_p) != _WORD:
        return False
    program = b"".join(_program(names.index(os.uname().machine), may_open=may_open))
    instructions = ctypes.create_string_buffer(program, len(program))
    filter_ = struct.pack("@HP", len(program) // len(_instruction(0, 0)), ctypes.addressof(instructions))
    return _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.create_string_buffer(filter_, len(filter_)))


def _program(machine: int, *, may_open: bool) -> Iterable[bytes]:
    """The filter as BPF instructions: everything that no rule allows is refused."""
    yield _instruction(_LOAD_WORD, _ARCHITECTURE)
    yield _instruction(_JUMP_IF_EQUAL, _MACHINES[machine][1], when=1)
    yield _instruction(_RETURN, _REFUSE)
    yield _instruction(_LOAD_WORD, _CALL)
    for numbers in _ALLOWED.values():
        yield from _when(numbers[machine], [_instruction(_RETURN, _ALLOW)])
    yield from _when(_CLONE3, [_instruction(_RETURN, _UNKNOWN)])
    for numbers, flags in _OPENING.values() if may_open else ():
        yield from _when(numbers[machine], _unless_any_bit(flags, _WRITING))
    yield from _when(_FCNTL[machine], _only_values(1, _FCNTL_COMMANDS))
    yield from _when(_IOCTL[machine], _only_values(1, _IOCTL_COMMANDS))
    yield from _when(_PRLIMIT[machine], _only_values(0, (0,)))
    yield _instruction(_RETURN, _REFUSE)


def _when(number: int | None, then: list[bytes]) -> list[bytes]:
    """Instructions for one system call, ending in a decision."""
    return [] if number is None else [_instruction(_JUMP_IF_EQUAL, number, otherwise=len(then)), *then]


def _only_values(argument: int, values: Sequence[int]) -> list[bytes]:
    tests = [_instruction(_JUMP_IF_EQUAL, value, when=len(values) - at) for at, value in enumerate(values)]
    return [_load_argument(argument), *tests, _instruction(_RETURN, _REFUSE), _instruction(_RETURN, _ALLOW)]


def _unless_any_bit(argument: int, bits: int) -> list[bytes]:
    test = _instruction(_JUMP_IF_ANY_BIT, bits, otherwise=1)
    return [_load_argument(argument), test, _instruction(_RETURN, _REFUSE), _instruction(_RETURN, _ALLOW)]


def _load_argument(index: int) -> bytes:
    """Load the lower half of an argument, which is all the kernel uses of a command, of flags or of a process id."""
    return _instruction(_LOAD_WORD, _FIRST_ARGUMENT + _WORD * index)


def _instruction(code: int, value: int, when: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, when, otherwise, value)
