"""Project Gutenberg's catalogue, as Gutendex serves it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, Field, ValidationError

from bot.downloads import HEADERS
from domain.book import OfferedBook
from domain.errors import DownloadError, DownloadErrorCode, Worded

if TYPE_CHECKING:
    import aiohttp

SEARCH_S = 20.0
"""The public service is slow if nobody has used it for a while."""
MOST_OFFERED = 10
LONGEST_QUERY = 200
_LARGEST_REPLY = 4 * 2**20
_BYTES_PER_WORD = 6
"""In plain text of European languages, including the space and line ends."""

_PATHS = ("/books/", "/books")
"""The path the service redirects to, and the one in its manual; a self-hosted copy may support only one of them."""


class _Person(BaseModel):
    name: str = ""


class _Entry(BaseModel):
    title: str = Field(min_length=1)
    authors: list[_Person] = []
    languages: list[str] = []
    media_type: str = "Text"
    formats: dict[str, str] = {}


class _Reply(BaseModel):
    results: list[Any]


class FileSizes(Protocol):
    """Asks hosts for the sizes of files."""

    async def sizes(self, urls: Sequence[str]) -> list[int | None]: ...


class GutendexCatalogue:
    """BookCatalogue over Gutendex.

    `url` is the operator's setting and may be anywhere; the links in its results are not trusted.
    """

    def __init__(self, url: str, sizes: FileSizes, *, seconds: float = SEARCH_S) -> None:
        self._url = url.rstrip("/")
        self._sizes = sizes
        self._seconds = seconds

    async def find(self, query: str) -> Sequence[OfferedBook]:
        """See domain.ports.BookCatalogue."""
        import aiohttp  # imported late: see bot.downloads

        words = " ".join(query.split())[:LONGEST_QUERY]
        try:
            async with asyncio.timeout(self._seconds):
                reply = _Reply.model_validate_json(await self._ask({"search": words}))
        except TimeoutError as error:
            raise _down(Worded("The catalogue of Project Gutenberg takes too long to answer.")) from error
        except (aiohttp.ClientError, OSError) as error:
            raise _down(Worded("I can't reach the catalogue of Project Gutenberg at the moment.")) from error
        except ValidationError as error:
            raise _down(Worded("The catalogue of Project Gutenberg gave an answer I can't read.")) from error
        entries = [entry for entry in map(_entry, reply.results) if entry is not None][:MOST_OFFERED]
        return await self._with_lengths(entries)

    async def _ask(self, parameters: Mapping[str, str]) -> bytes:
        import aiohttp

        async with aiohttp.ClientSession(headers=HEADERS) as session:
            for path in _PATHS:
                async with session.get(self._url + path, params=parameters, allow_redirects=False) as response:
                    if response.status == 200:
                        return await _limited(response)
        raise aiohttp.ClientError(f"the catalogue answered with status {response.status}")

    async def _with_lengths(self, entries: Sequence[_Entry]) -> Sequence[OfferedBook]:
        """The books with their lengths, which the catalogue lacks but the file hosts report."""
        texts = [_text(entry) for entry in entries]
        files = [_epub(entry) or text for entry, text in zip(entries, texts, strict=True)]
        sizes = await self._sizes.sizes([text or file for text, file in zip(texts, files, strict=True)])
        return [
            OfferedBook(
                title=" ".join(entry.title.split()),
                author=_author(entry.authors),
                languages=tuple(entry.languages[:5]),
                url=file,
                format="epub" if _epub(entry) else "txt",
                words=size // _BYTES_PER_WORD if text and size else None,
                size=size if not text else None,
            )
            for entry, text, file, size in zip(entries, texts, files, sizes, strict=True)
        ]


async def _limited(response: "aiohttp.ClientResponse") -> bytes:
    import aiohttp

    data = bytearray()
    async for chunk in response.content.iter_chunked(64 * 1024):
        data += chunk
        if len(data) > _LARGEST_REPLY:
            raise aiohttp.ClientError("the catalogue's answer does not end")
    return bytes(data)


def _entry(result: Any) -> _Entry | None:
    """A book with a readable file; None for others, and for entries that are no books."""
    try:
        entry = _Entry.model_validate(result)
    except ValidationError:
        return None
    return entry if entry.media_type.casefold() == "text" and (_epub(entry) or _text(entry)) else None


def _epub(entry: _Entry) -> str:
    return _link(entry, "application/epub+zip")


def _text(entry: _Entry) -> str:
    return _link(entry, "text/plain")


def _link(entry: _Entry, media_type: str) -> str:
    """The file of that type; not one that is compressed in addition."""
    links = (url for kind, url in entry.formats.items() if kind.partition(";")[0].strip().casefold() == media_type)
    return next((url for url in links if not url.casefold().endswith(".zip")), "")


def _author(people: Sequence[_Person]) -> str:
    return ", ".join(_in_order(person.name) for person in people[:3] if person.name.strip())


def _in_order(name: str) -> str:
    """ "Austen, Jane" in natural order; a name with more parts stays as in the catalogue."""
    parts = [" ".join(part.split()) for part in name.split(",")]
    return f"{parts[1]} {parts[0]}" if len(parts) == 2 and all(parts) else ", ".join(parts)


def _down(what: Worded) -> DownloadError:
    message = Worded("{what} Please try again in a few minutes, or add a book by its address or as a file.", what=what)
    return DownloadError(DownloadErrorCode.CATALOGUE_DOWN, message)
