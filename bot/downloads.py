"""Downloading book files, only from hosts that the operator has named, however an address is disguised.

An address is checked before anything is sent there, and so is every redirect. A host's name is resolved once per
connection, and the connection goes to the checked address.
"""

import asyncio
import ipaddress
import re
import socket
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote, urlsplit

from yarl import URL

from domain.book import DownloadedFile
from domain.errors import DownloadError, DownloadErrorCode, SettingsError, Worded, listed
from domain.ports import Progress

if TYPE_CHECKING:
    import aiohttp
    from aiohttp.abc import AbstractResolver, ResolveResult
else:
    AbstractResolver = object  # aiohttp takes a third of a second to load, and most commands download nothing

DOWNLOAD_S = 60.0
"""From the first request to the last byte, redirects included, however slowly they arrive."""
CONNECT_S = 10.0
SILENCE_S = 20.0
"""How long a host may be silent."""
SIZES_S = 4.0
REDIRECTS = 5
LONGEST_ADDRESS = 2_000
HOSTS_NAMED = 20
"""The most hosts that a sentence names; the setting may have hundreds, and a message has 2,000 characters."""
MEBIBYTE = 2**20
_CHUNK = 64 * 1024
_KNOWN_SIZES = 1_000

HEADERS = {"User-Agent": "Marginalia (a Discord bot that reads books)", "Accept-Encoding": "gzip"}


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

_HANDED_OUT = ipaddress.IPv6Network("2000::/3")
"""What the registries give out of IPv6. The standard library calls nearly all of it global, also addresses of a site,
and those that mean an address of IPv4 in an old form.
"""

_FOR_PROTOCOLS = ipaddress.IPv4Network("192.0.0.0/24")
"""Given to no host on the Internet; some clouds tell a machine its own secrets here."""

_PAGES_OF_BOOKS = (
    (
        re.compile(r"https://(?:www\.)?gutenberg\.org/ebooks/(\d+)/?"),
        r"https://www.gutenberg.org/ebooks/\1.epub3.images",
    ),
    (
        re.compile(r"https://(?:www\.)?standardebooks\.org/ebooks/([\w-]+)/([\w-]+)/?"),
        r"https://standardebooks.org/ebooks/\1/\2/downloads/\1_\2.epub?source=download",
    ),
    (re.compile(r"https://(?:www\.)?archive\.org/details/([\w.-]+)/?"), r"https://archive.org/download/\1/\1.epub"),
)
"""People copy the address of the page that presents a book; the book itself is at another address of the same host."""

_BOOK_TYPES = re.compile(
    r"application/(?:epub|pdf|octet-stream|zip|x-zip|x-mobipocket|vnd\.amazon|x-fictionbook|rtf|xml|xhtml"
    r"|vnd\.openxmlformats|vnd\.oasis|force-download|x-download|download|binary)"
    r"|text/(?:plain|markdown|x-markdown|html|rtf|xml)|binary/octet-stream"
)
_WEB_PAGE = re.compile(r"(?:text/html|application/xhtml)")
_HOLDS_A_WEB_PAGE = re.compile(r"\.x?html?$|^/wiki/", re.IGNORECASE)
"""Paths at which a web page is the book: files with such a suffix, and the pages of Wikisource."""


@dataclass(frozen=True, slots=True)
class BookHosts:
    """Where books may come from.

    `domains` are names of public hosts, including their subdomains, which are reached by https. `places` are hosts
    with a port that the operator has named explicitly: they may be in a private network, and use http.
    """

    domains: tuple[str, ...]
    places: frozenset[tuple[str, int]] = frozenset()

    @classmethod
    def parse(cls, entries: Sequence[str]) -> Self:
        """Read the setting BOOK_HOSTS.

        Raises:
            SettingsError: an entry is no host.
        """
        domains, places = [], []
        for entry in entries:
            host, port = _host_and_port(entry)
            if port is not None:
                places.append((host, port))
            elif _literal(host) is not None:
                raise SettingsError(f"BOOK_HOSTS: {entry} is a number; name it with its port, as in {host}:443.")
            else:
                domains.append(host)
        return cls(tuple(domains), frozenset(places))

    def trusts(self, host: str, port: int) -> bool:
        """Whether the operator has named exactly this host with this port."""
        return (host, port) in self.places

    def lists(self, host: str) -> bool:
        """Whether a host is one of the domains, or in one of them."""
        return any(host == domain or host.endswith(f".{domain}") for domain in self.domains)


def _host_and_port(entry: str) -> tuple[str, int | None]:
    try:
        parts = urlsplit(f"//{entry.strip()}")
        host, port = URL.build(host=parts.hostname or "").raw_host or "", parts.port
    except ValueError:
        host, port = "", None
    if not host or "*" in host or parts.path or parts.query or parts.username is not None:
        raise SettingsError(f"BOOK_HOSTS: {entry} is not a host. Write hosts like gutenberg.org, archive.org.")
    return host.casefold(), port


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


def is_public(address: str) -> bool:
    """Whether an IP address is on the public Internet; an address that embeds another is judged by that one."""
    known = _literal(address)
    if isinstance(known, ipaddress.IPv6Address):
        carried = [known.ipv4_mapped, known.sixtofour, *(known.teredo or ())]
        if known in _NAT64:
            carried.append(ipaddress.IPv4Address(int(known) & 0xFFFFFFFF))
        if any(each is not None and not is_public(str(each)) for each in carried):
            return False
        if known.ipv4_mapped is not None:
            return True
        if known not in _HANDED_OUT and known not in _NAT64:
            return False
    return known is not None and known.is_global and not known.is_multicast and known not in _FOR_PROTOCOLS


class PrivateAddressError(OSError):
    """A public name resolves to an address that is not public."""


class GuardedResolver(AbstractResolver):
    """Resolves names, and refuses addresses outside the public Internet, except for the operator's `places`."""

    def __init__(self, hosts: BookHosts, inner: AbstractResolver) -> None:
        self._hosts = hosts
        self._inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> "list[ResolveResult]":
        found = await self._inner.resolve(host, port, family)
        if not self._hosts.trusts(host, port) and not all(is_public(each["host"]) for each in found):
            raise PrivateAddressError(f"{host} stands for an address that is not public")
        return found

    async def close(self) -> None:
        await self._inner.close()


class GuardedDownloads:
    """BookDownloads over HTTP. `resolver` replaces the system's, and `seconds` replaces DOWNLOAD_S."""

    def __init__(
        self,
        hosts: BookHosts,
        *,
        max_file_mb: int,
        resolver: AbstractResolver | None = None,
        seconds: float = DOWNLOAD_S,
    ) -> None:
        self._hosts = hosts
        self._most_mb = max_file_mb
        self._resolver = resolver
        self._seconds = seconds
        self._sizes: dict[str, int | None] = {}

    async def download(self, url: str, progress: Progress | None = None) -> DownloadedFile:
        """See domain.ports.BookDownloads."""
        import aiohttp

        address = _book_behind(self._checked(_parsed(url)))
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._session() as session,
                self._answer(session, "GET", address) as response,
            ):
                _assert_is_book(response)
                return DownloadedFile(await self._body(response, progress), _file_name(response))
        except TimeoutError as error:
            message = Worded(
                "{host} sends this file too slowly, so I stopped. Please download it yourself and add it as a file.",
                host=address.host,
            )
            raise DownloadError(DownloadErrorCode.TIMED_OUT, message) from error
        except aiohttp.ClientPayloadError as error:
            raise _broken_off() from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _unreachable(error, address) from error

    async def sizes(self, urls: Sequence[str]) -> list[int | None]:
        """The sizes of the files in bytes, if their hosts report them within a few seconds, else None."""
        unknown = [url for url in dict.fromkeys(urls) if url not in self._sizes]
        async with self._session() as session:
            asked = [asyncio.create_task(self._size(session, url)) for url in unknown]
            if asked:
                await asyncio.wait(asked, timeout=SIZES_S)
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        while len(self._sizes) > _KNOWN_SIZES:
            del self._sizes[next(iter(self._sizes))]
        return [self._sizes.get(url) for url in urls]

    async def _size(self, session: "aiohttp.ClientSession", url: str) -> None:
        import aiohttp

        try:
            address = self._checked(_parsed(url), upgrade=True)
            async with self._answer(session, "HEAD", address) as response:
                self._sizes[url] = response.content_length
        except (DownloadError, aiohttp.ClientError, OSError, ValueError):
            return

    def _session(self) -> "aiohttp.ClientSession":
        import aiohttp

        inner = self._resolver or aiohttp.ThreadedResolver()
        connector = aiohttp.TCPConnector(
            resolver=GuardedResolver(self._hosts, inner), use_dns_cache=False, force_close=True, limit=5
        )
        return aiohttp.ClientSession(
            connector=connector,
            headers=HEADERS,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,  # a small body may unpack to an endless one
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=SILENCE_S),
        )

    @asynccontextmanager
    async def _answer(
        self, session: "aiohttp.ClientSession", method: str, address: URL
    ) -> "AsyncIterator[aiohttp.ClientResponse]":
        """The response with the file, after all redirects.

        Raises:
            DownloadError: the redirects lead to a host that is not allowed, or to no file.
        """
        for _ in range(REDIRECTS + 1):
            async with session.request(method, address, allow_redirects=False) as response:
                leads_to = response.headers.get("Location")
                if response.status not in (301, 302, 303, 307, 308) or leads_to is None:
                    _assert_found(response.status)
                    yield response
                    return
                address = self._checked(address.join(_parsed(leads_to)), upgrade=True, redirected=True)
        message = "This address redirects in circles. Please use the address of the EPUB or the text file itself."
        raise DownloadError(DownloadErrorCode.UNREACHABLE, message)

    def _checked(self, url: URL, *, upgrade: bool = False, redirected: bool = False) -> URL:
        """The address, if books may come from there. `upgrade`: use https for a public host that was named with http.

        Raises:
            DownloadError: NOT_ALLOWED.
        """
        host, port = (url.raw_host or "").casefold(), url.port or 0
        if url.scheme not in ("http", "https") or not host or "@" in url.raw_authority:
            raise _not_allowed(
                Worded("That isn't the address of a book. It must begin with https and contain no user name.")
            )
        if self._hosts.trusts(host, port):
            return url.with_fragment(None)
        if not self._hosts.lists(host):
            raise _not_allowed(_off_the_list(self._hosts, url.host or host, redirected=redirected))
        if url.scheme == "http" and upgrade and url.is_default_port():
            url = url.with_scheme("https").with_port(None)
        if url.scheme != "https" or url.port != 443:
            raise _not_allowed(
                Worded(
                    "I only download from {host} by https. Please use an address that begins with https and has no "
                    "number after a colon.",
                    host=host,
                )
            )
        return url.with_fragment(None)

    async def _body(self, response: "aiohttp.ClientResponse", progress: Progress | None) -> bytes:
        most = self._most_mb * MEBIBYTE
        declared = response.content_length
        if declared is not None and declared > most:
            raise self._too_large()
        unpack = _unpacker(response.headers.get("Content-Encoding", ""))
        data = bytearray()
        received = 0
        async for chunk in response.content.iter_chunked(_CHUNK):
            received += len(chunk)
            for piece in unpack.pieces(chunk):
                data += piece
                if len(data) > most:
                    raise self._too_large()
                await asyncio.sleep(0)
            if progress and declared:
                progress("downloading", received / declared)
        if not unpack.is_complete:
            raise _broken_off()
        return bytes(data)

    def _too_large(self) -> DownloadError:
        message = Worded(
            "This file is larger than {most} MB, the limit that the bot's operator has set. Is there a smaller "
            "edition?",
            most=self._most_mb,
        )
        return DownloadError(DownloadErrorCode.TOO_LARGE, message)


class _AsItIs:
    """A body that is not compressed."""

    is_complete = True

    def pieces(self, chunk: bytes) -> Sequence[bytes]:
        return [chunk]


class _Unpacker:
    """A gzip or deflate body, unpacked in pieces of at most a mebibyte."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(wbits=47)  # either, told apart by its header

    @property
    def is_complete(self) -> bool:
        return self._stream.eof

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        while chunk and not self._stream.eof:
            try:
                yield self._stream.decompress(chunk, MEBIBYTE)
            except zlib.error as error:
                raise _broken_off() from error
            chunk = self._stream.unconsumed_tail


def _unpacker(encoding: str) -> _AsItIs | _Unpacker:
    match encoding.strip().casefold():
        case "" | "identity":
            return _AsItIs()
        case "gzip" | "x-gzip" | "deflate":
            return _Unpacker()
    message = (
        "The website sends this file packed in a way that I can't unpack. "
        "Please download it yourself and add it as a file."
    )
    raise DownloadError(DownloadErrorCode.NOT_A_BOOK, message)


def _parsed(url: str) -> URL:
    """The address that somebody has typed, if it is one.

    Raises:
        DownloadError: NOT_ALLOWED, it is not a valid address.
    """
    try:
        if len(url) > LONGEST_ADDRESS or any(ord(letter) < 32 for letter in url.strip()):
            raise ValueError("too long, or with control characters in it")
        address = URL(url.strip())
        address.human_repr()  # decodes the host, which fails for some that begin with "xn--"
        return address
    except ValueError as error:
        raise _not_allowed(Worded("That isn't the address of a book. It must begin with https.")) from error


def _book_behind(url: URL) -> URL:
    """The address of a book's file, if the given one is that of the page about the book."""
    for page, file in _PAGES_OF_BOOKS:
        if match := page.fullmatch(str(url.with_query(None))):
            return URL(match.expand(file))
    return url


def _off_the_list(hosts: BookHosts, host: str, *, redirected: bool) -> Worded:
    places = [*hosts.domains, *(f"{name}:{port}" for name, port in sorted(hosts.places))]
    named = Worded("Downloads are turned off here.")
    if places:
        shown, unnamed = places[:HOSTS_NAMED], len(places[HOSTS_NAMED:])
        named = Worded("I can download books from {places}.", places=listed(shown, unnamed))
    if redirected:
        return Worded(
            "This address redirects to {host}, and I'm not allowed to download from there. {named}",
            host=host,
            named=named,
        )
    return Worded("I'm not allowed to download from {host}. {named}", host=host, named=named)


def _assert_found(status: int) -> None:
    """Refuse a response without the file.

    Raises:
        DownloadError: the host does not deliver the file.
    """
    if status == 200:
        return
    if status in (404, 410):
        message = "There is no file at this address. Please check it."
        raise DownloadError(DownloadErrorCode.NOT_FOUND, message)
    if status in (401, 402, 403, 451):
        message = "The website won't give me this file. Please download it yourself and add it as a file."
        raise DownloadError(DownloadErrorCode.NOT_FOUND, message)
    message = Worded(
        "The website couldn't send the file (HTTP status {status}). Please try again in a few minutes.", status=status
    )
    raise DownloadError(DownloadErrorCode.UNREACHABLE, message)


def _assert_is_book(response: "aiohttp.ClientResponse") -> None:
    """Refuse a response whose headers say that it is no book.

    Raises:
        DownloadError: NOT_A_BOOK, according to the host's headers.
    """
    declared = response.headers.get("Content-Type", "").partition(";")[0].strip().casefold()
    if _WEB_PAGE.match(declared) and not _HOLDS_A_WEB_PAGE.search(response.url.path):
        message = (
            "This address gives a web page, not a book. Please use the address of the EPUB or the text file itself."
        )
        raise DownloadError(DownloadErrorCode.NOT_A_BOOK, message)
    if declared and not _BOOK_TYPES.match(declared):
        message = Worded(
            "This address gives {declared}, which is not a book. Please use the address of the EPUB or text file.",
            declared=declared[:60],
        )
        raise DownloadError(DownloadErrorCode.NOT_A_BOOK, message)


def _file_name(response: "aiohttp.ClientResponse") -> str:
    return unquote(response.url.raw_path).rstrip("/").rpartition("/")[2] or "book"


def _not_allowed(message: Worded) -> DownloadError:
    return DownloadError(DownloadErrorCode.NOT_ALLOWED, message)


def _broken_off() -> DownloadError:
    message = "The download broke off before the file was complete. Please try again."
    return DownloadError(DownloadErrorCode.UNREACHABLE, message)


def _unreachable(error: Exception, address: URL) -> DownloadError:
    host = getattr(error, "host", address.host)  # it may be one that the address redirects to
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, PrivateAddressError):
        cause = cause.__cause__ or getattr(cause, "os_error", None)
    if cause is not None:
        return _not_allowed(
            Worded("I'm not allowed to download from {host}: it's an address in a private network.", host=host)
        )
    message = Worded("I can't reach {host} at the moment. Please try again in a few minutes.", host=host)
    return DownloadError(DownloadErrorCode.UNREACHABLE, message)
