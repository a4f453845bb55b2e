"""Books come from where the operator allows, and nothing a stranger types or a host answers leads elsewhere."""

import socket
from collections.abc import AsyncIterator

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from hypothesis import given
from hypothesis import strategies as st

from bot.downloads import BookHosts, GuardedDownloads, is_public
from domain.book import DownloadedFile
from domain.errors import DownloadError, DownloadErrorCode, SettingsError
from tests.doubles.book_host import LIMIT_MB, NOVEL, BookHostDouble, epub

LISTED = ("gutenberg.org", "standardebooks.org", "archive.org", "wikisource.org")
NOT_ALLOWED, UNREACHABLE = DownloadErrorCode.NOT_ALLOWED, DownloadErrorCode.UNREACHABLE
TOO_LARGE, TIMED_OUT = DownloadErrorCode.TOO_LARGE, DownloadErrorCode.TIMED_OUT
NOT_FOUND, NOT_A_BOOK = DownloadErrorCode.NOT_FOUND, DownloadErrorCode.NOT_A_BOOK


class Names(AbstractResolver):
    """Answers with the addresses it was given, one list a question, the last one for ever."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.ports: list[int] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        self.asked.append(host)
        self.ports.append(port)
        addresses = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [
            ResolveResult(
                hostname=host,
                host=each,
                port=port,
                family=socket.AF_INET6 if ":" in each else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for each in addresses
        ]

    async def close(self) -> None:
        pass


@pytest.fixture
async def host() -> AsyncIterator[BookHostDouble]:
    async with BookHostDouble() as double:
        yield double


def downloads(*entries: str, resolver: AbstractResolver | None = None, seconds: float = 10.0) -> GuardedDownloads:
    hosts = BookHosts.parse(entries or LISTED)
    return GuardedDownloads(hosts, max_file_mb=LIMIT_MB, resolver=resolver, seconds=seconds)


async def refusal(guard: GuardedDownloads, url: str) -> DownloadError:
    with pytest.raises(DownloadError) as caught:
        await guard.download(url)
    assert caught.value.message.endswith((".", "?"))
    return caught.value


# What is asked for


async def test_a_book_comes_with_the_name_of_its_file(host: BookHostDouble) -> None:
    shares: list[float] = []
    data = epub()  # once: an archive has the time at which it was made
    host.leads["/ebooks/11"] = "/files/a%20lamp.epub"
    host.files["/files/a lamp.epub"] = ("application/epub+zip", data)
    found = await downloads(host.place).download(f"{host.url}/ebooks/11", lambda stage, share: shares.append(share))
    assert found == DownloadedFile(data, "a lamp.epub")
    assert shares[-1] == 1.0


async def test_a_packed_body_is_unpacked(host: BookHostDouble) -> None:
    assert (await downloads(host.place).download(f"{host.url}/packed")).data.decode() == NOVEL


async def test_a_web_page_is_a_book_where_its_address_says_so(host: BookHostDouble) -> None:
    page = ("text/html; charset=utf-8", b"<html><body><p>Once.</p></body></html>")
    host.files |= {"/11-h.htm": page, "/wiki/Alice": page, "/ebooks/11": page}
    guard = downloads(host.place)
    assert (await guard.download(f"{host.url}/11-h.htm")).name == "11-h.htm"
    assert (await guard.download(f"{host.url}/wiki/Alice")).name == "Alice"
    assert (await refusal(guard, f"{host.url}/ebooks/11")).code is NOT_A_BOOK


@pytest.mark.parametrize(
    ("page", "path"),
    [
        ("https://www.gutenberg.org/ebooks/11", "www.gutenberg.org"),
        ("https://gutenberg.org/ebooks/11/", "www.gutenberg.org"),
        ("https://standardebooks.org/ebooks/jane-austen/emma", "standardebooks.org"),
        ("https://archive.org/details/emma_00", "archive.org"),
    ],
)
async def test_the_page_that_presents_a_book_leads_to_its_file(page: str, path: str) -> None:
    names = Names(["127.0.0.1"])
    await refusal(downloads(resolver=names), page)
    assert names.asked == [path]


# What is typed

TYPED = [
    "http://www.gutenberg.org/ebooks/11.txt.utf-8",
    "ftp://www.gutenberg.org/11.txt",
    "file:///etc/passwd",
    "gopher://gutenberg.org/",
    "data:text/plain,hello",
    "javascript:alert(1)",
    "gutenberg.org/ebooks/11.txt",
    "//gutenberg.org/ebooks/11.txt",
    "https:gutenberg.org/x",
    "",
    " ",
    "https://",
    "https://evil.example/book.epub",
    "https://gutenberg.org.evil.example/book.epub",
    "https://evilgutenberg.org/book.epub",
    "https://evil.example/?https://gutenberg.org/",
    "https://evil.example/#gutenberg.org",
    "https://gutenberg.org@evil.example/book.epub",
    "https://gutenberg.org:443@evil.example/book.epub",
    "https://reader@gutenberg.org/book.epub",
    "https://:secret@gutenberg.org/book.epub",
    "https://gutenberg.org\\@evil.example/book.epub",
    "https://gutenberg.org%00.evil.example/book.epub",
    "https://gutenberg.org%2eevil.example/book.epub",
    "https://gutenberg.org\r\nHost: evil.example/",
    "https://gutenberg.org:22/book.epub",
    "https://gutenberg.org:8443/book.epub",
    "https://gutenberg.org:99999/book.epub",
    "https://localhost/book.epub",
    "https://localhost.localdomain/book.epub",
    "https://127.0.0.1/book.epub",
    "https://127.1/book.epub",
    "https://2130706433/book.epub",
    "https://0x7f000001/book.epub",
    "https://0x7f.0.0.1/book.epub",
    "https://0177.0.0.1/book.epub",
    "https://017700000001/book.epub",
    "https://0/book.epub",
    "https://0.0.0.0/book.epub",
    "https://10.0.0.1/book.epub",
    "https://172.16.0.1/book.epub",
    "https://192.168.1.1/book.epub",
    "https://100.64.0.1/book.epub",
    "https://169.254.169.254/latest/meta-data/",
    "https://224.0.0.1/book.epub",
    "https://255.255.255.255/book.epub",
    "https://[::1]/book.epub",
    "https://[::]/book.epub",
    "https://[fe80::1]/book.epub",
    "https://[fe80::1%25eth0]/book.epub",
    "https://[fc00::1]/book.epub",
    "https://[::ffff:127.0.0.1]/book.epub",
    "https://[::ffff:7f00:1]/book.epub",
    "https://[::127.0.0.1]/book.epub",
    "https://[64:ff9b::7f00:1]/book.epub",
    "https://[2002:7f00:1::]/book.epub",
    "https://[::1/book.epub",
    "https://①②⑦.⓪.⓪.①/book.epub",
    "https://ⓛocalhost/book.epub",
    "https://93.184.216.34/book.epub",
    "https://¡․",
    "https://gutenberg.org/" + "a" * 3_000,
]


@pytest.mark.parametrize("url", TYPED)
async def test_an_address_off_the_list_is_refused_before_any_name_is_looked_up(url: str) -> None:
    names = Names(["127.0.0.1"])
    assert (await refusal(downloads(resolver=names), url)).code is NOT_ALLOWED
    assert names.asked == []


async def test_of_very_many_hosts_the_first_ones_are_named() -> None:
    error = await refusal(
        downloads(*(f"books-{number}.example" for number in range(500))), "https://elsewhere.example/"
    )
    assert "from books-0.example, books-1.example" in error.message
    assert error.message.endswith(" and 480 more.")


@given(st.text(max_size=200))
async def test_whatever_is_typed_ends_in_a_sentence(text: str) -> None:
    names = Names(["127.0.0.1"])
    for url in (text, f"https://{text}", f"https://gutenberg.org{text}"):
        assert (await refusal(downloads(resolver=names), url)).code in DownloadErrorCode


# What names stand for

PRIVATE = [
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.31.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1",
    "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.251", "240.0.0.1", "255.255.255.255",
    "::1", "::", "fe80::1", "fe80::1%2", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1",
    "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::1",
    "2002:a00:1::1", "2001:0:7f00:1::", "::127.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b:1::10.0.0.1", "fec0::1", "5f00::1",
    "4000::1", "192.0.0.192",
]  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
async def test_a_listed_name_that_stands_for_an_address_that_is_not_public_is_refused(address: str) -> None:
    error = await refusal(downloads(resolver=Names([address])), "https://www.gutenberg.org/x.epub")
    assert (error.code, "private network" in error.message) == (NOT_ALLOWED, True)


async def test_one_private_address_among_public_ones_is_enough() -> None:
    guard = downloads(resolver=Names(["93.184.216.34", "127.0.0.1"]))
    assert (await refusal(guard, "https://www.gutenberg.org/x.epub")).code is NOT_ALLOWED


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]
)
def test_addresses_of_the_public_internet_are_let_through(address: str) -> None:
    assert is_public(address)


async def test_a_name_that_changes_its_mind_is_connected_to_what_was_checked(
    host: BookHostDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were it looked up again after the check, it would stand for loopback by then."""
    connected: list[str] = []

    async def note(self: object, addr_infos: list[tuple[object, ...]], **_: object) -> None:
        connected.extend(info[4][0] for info in addr_infos)  # type: ignore[index]
        raise OSError("no way there from here")

    monkeypatch.setattr("aiohttp.connector.aiohappyeyeballs.start_connection", lambda *a, **k: note(None, *a, **k))
    names = Names(["93.184.216.34"], ["127.0.0.1"])
    guard = downloads(resolver=names)
    assert (await refusal(guard, "https://www.gutenberg.org/x.epub")).code is UNREACHABLE
    assert (names.asked, connected) == (["www.gutenberg.org"], ["93.184.216.34"])
    assert (await refusal(guard, "https://www.gutenberg.org/x.epub")).code is NOT_ALLOWED
    assert connected == ["93.184.216.34"]


# Where hosts lead


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/book.epub",
        "http://169.254.169.254/latest/meta-data/",
        "https://127.0.0.1/book.epub",
        "http://127.0.0.1:1/book.epub",
        "http://localhost/book.epub",
        "//evil.example/book.epub",
        "file:///etc/passwd",
        "ftp://gutenberg.org/book.epub",
        "https://user@www.gutenberg.org/book.epub",
        "https://gutenberg.org:8443/book.epub",
        "https://[::1]/",
        "https://[",
    ],
)
async def test_a_redirect_off_the_list_is_not_followed(host: BookHostDouble, target: str) -> None:
    host.leads["/book.epub"] = target
    names = Names(["127.0.0.1"])
    error = await refusal(downloads(host.place, *LISTED, resolver=names), f"{host.url}/book.epub")
    assert (error.code, names.asked, host.asked) == (NOT_ALLOWED, [], ["/book.epub"])


async def test_a_redirect_to_http_on_a_listed_host_is_followed_by_https(host: BookHostDouble) -> None:
    host.leads["/book.epub"] = "http://www.gutenberg.org/book.epub"
    names = Names(["127.0.0.1"])
    error = await refusal(downloads(host.place, *LISTED, resolver=names), f"{host.url}/book.epub")
    assert names.ports == [443]
    assert "download from www.gutenberg.org: it's an address in a private network" in error.message


async def test_another_port_is_what_the_refusal_speaks_of() -> None:
    error = await refusal(downloads(), "https://gutenberg.org:8443/book.epub")
    assert error.message.endswith("begins with https and has no number after a colon.")


# What hosts send


@pytest.mark.parametrize(
    ("path", "code", "word"),
    [
        ("/endless", TOO_LARGE, "1 MB"),
        ("/large", TOO_LARGE, "1 MB"),
        ("/bomb", TOO_LARGE, "1 MB"),
        ("/broken", UNREACHABLE, "broke off"),
        ("/again", UNREACHABLE, "circles"),
        ("/busy", UNREACHABLE, "503"),
        ("/missing", NOT_FOUND, "no file"),
        ("/forbidden", NOT_FOUND, "give me this file"),
        ("/strange", NOT_A_BOOK, "unpack"),
    ],
)
async def test_a_body_that_is_no_book_ends_in_a_sentence(
    host: BookHostDouble, path: str, code: DownloadErrorCode, word: str
) -> None:
    error = await refusal(downloads(host.place), f"{host.url}{path}")
    assert (error.code, word in error.message) == (code, True)


@pytest.mark.parametrize("path", ["/drip", "/silent"])
async def test_a_host_that_takes_for_ever_is_given_up(host: BookHostDouble, path: str) -> None:
    assert (await refusal(downloads(host.place, seconds=0.5), f"{host.url}{path}")).code is TIMED_OUT


@pytest.mark.parametrize("kind", ["image/png", "video/mp4", "application/json", "text/css", "text/html"])
async def test_another_type_is_refused_whatever_the_address_ends_in(host: BookHostDouble, kind: str) -> None:
    host.files["/book.epub"] = (kind, epub())
    error = await refusal(downloads(host.place), f"{host.url}/book.epub")
    assert error.code is NOT_A_BOOK


async def test_a_host_that_is_not_there_is_told_of(host: BookHostDouble) -> None:
    assert (await refusal(downloads("127.0.0.1:1"), "http://127.0.0.1:1/book.epub")).code is UNREACHABLE


# What the operator names


async def test_a_place_of_the_operators_own_is_that_host_with_that_port_alone(host: BookHostDouble) -> None:
    guard = downloads(f"localhost:{host.port}")
    assert (await guard.download(f"http://localhost:{host.port}/ebooks/11.txt.utf-8")).data.decode() == NOVEL
    for other in (f"http://127.0.0.1:{host.port}/", "http://localhost/", f"http://sub.localhost:{host.port}/"):
        assert (await refusal(guard, other)).code is NOT_ALLOWED


@pytest.mark.parametrize(
    "entry", ["192.168.1.5", "::1", "http://x.org", "x.org/a", "a@x.org:1", "x.org:99999", ":8", "*.x.org"]
)
def test_an_entry_that_is_no_host_is_a_sentence(entry: str) -> None:
    with pytest.raises(SettingsError, match="BOOK_HOSTS"):
        BookHosts.parse([entry])


def test_an_entry_may_be_a_number_with_a_port() -> None:
    assert BookHosts.parse(["[::1]:8080", "127.0.0.1:80"]).places == {("::1", 8080), ("127.0.0.1", 80)}


# How large files are


async def test_sizes_are_asked_for_once_and_only_where_books_may_come_from(host: BookHostDouble) -> None:
    guard = downloads(host.place)
    urls = [f"{host.url}/ebooks/11.txt.utf-8", f"{host.url}/missing", "https://evil.example/x", "nonsense"]
    assert await guard.sizes(urls) == [len(NOVEL.encode()), None, None, None]
    host.asked.clear()
    assert (await guard.sizes(urls[:1]), host.asked) == ([len(NOVEL.encode())], [])
