"""A host of books and a Gutendex on loopback, well-behaved or not."""

import asyncio
import gzip
import io
import zipfile
from typing import Any, Self

from aiohttp import web

from tests.journeys.reading_room import tale

NOVEL = tale().text
LIMIT_MB = 1
"""What the tests let a file have, so that "too large" is quick."""


def epub(title: str = "The Dark Lamp", author: str = "M. Wick") -> bytes:
    """A small book that is complete."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
            '<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        )
        archive.writestr(
            "book.opf",
            '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id"><metadata '
            f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title><dc:creator>{author}</dc:creator>'
            '<dc:language>en</dc:language></metadata><manifest><item id="one" href="one.xhtml" '
            'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="one"/></spine></package>',
        )
        paragraphs = "".join(f"<p>{line}</p>" for line in NOVEL.splitlines() if line.strip())
        archive.writestr(
            "one.xhtml",
            f'<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>Chapter 1</h1>{paragraphs}</body></html>',
        )
    return buffer.getvalue()


class BookHostDouble:
    """Serves `files` (path: content type, body), `leads` (path: address it redirects to), and the ways to misbehave.

    `/endless`, `/large`, `/bomb`, `/drip`, `/silent`, `/broken` and `/again` are what they are called. `catalogue` is
    what the Gutendex at the same address finds; a string there is sent as it is, None never. `asked` are the paths.
    """

    def __init__(self) -> None:
        self.files: dict[str, tuple[str, bytes]] = {
            "/ebooks/11.epub3.images": ("application/epub+zip", epub()),
            "/ebooks/11.txt.utf-8": ("text/plain; charset=utf-8", NOVEL.encode()),
        }
        self.leads: dict[str, str] = {}
        self.catalogue: list[dict[str, Any]] | str | None = []
        self.asked: list[str] = []
        self.port = 0
        self._runner: web.AppRunner | None = None

    @property
    def place(self) -> str:
        """The host with its port, as an operator names it."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.place}"

    def offer(self, title: str, author: str = "Wick, M.", number: int = 11, **changes: Any) -> dict[str, Any]:
        """An entry of the catalogue, whose files are here."""
        files = f"{self.url}/ebooks/{number}"
        return {
            "id": number,
            "title": title,
            "authors": [{"name": author, "birth_year": 1850, "death_year": 1900}],
            "languages": ["en"],
            "media_type": "Text",
            "formats": {
                "text/plain; charset=us-ascii": f"{files}.txt.utf-8",
                "application/epub+zip": f"{files}.epub3.images",
                "image/jpeg": f"{files}.cover.medium.jpg",
            },
            "download_count": 7,
            **changes,
        }

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        if request.path in ("/books/", "/books"):
            return await self._search()
        if request.path in self.leads:
            return web.Response(status=302, headers={"Location": self.leads[request.path]})
        if request.path in self.files:
            kind, body = self.files[request.path]
            return web.Response(body=body, headers={"Content-Type": kind})
        misbehave = getattr(self, f"_{request.path.strip('/')}", None)
        if misbehave is None:
            return web.Response(status=404, text="nothing here")
        reply: web.StreamResponse = await misbehave(request)
        return reply

    async def _search(self) -> web.StreamResponse:
        if self.catalogue is None:
            await asyncio.sleep(3600)
        if isinstance(self.catalogue, str):
            return web.Response(text=self.catalogue, content_type="application/json")
        return web.json_response({"count": 1, "next": None, "previous": None, "results": self.catalogue})

    async def _stream(self, request: web.Request, piece: bytes, pause: float, **headers: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/octet-stream", **headers})
        await response.prepare(request)
        while True:
            await response.write(piece)
            await asyncio.sleep(pause)

    async def _endless(self, request: web.Request) -> web.StreamResponse:
        return await self._stream(request, b"a" * 65_536, 0)

    async def _drip(self, request: web.Request) -> web.StreamResponse:
        return await self._stream(request, b"a", 0.05)

    async def _silent(self, request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(3600)
        raise AssertionError("never reached")

    async def _large(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(LIMIT_MB * 2**20 + 1)})
        await response.prepare(request)
        return response

    async def _bomb(self, request: web.Request) -> web.StreamResponse:
        packed = gzip.compress(b"\0" * (64 * 2**20))
        return web.Response(body=packed, headers={"Content-Type": "text/plain", "Content-Encoding": "gzip"})

    async def _packed(self, request: web.Request) -> web.StreamResponse:
        packed = gzip.compress(NOVEL.encode())
        return web.Response(body=packed, headers={"Content-Type": "text/plain", "Content-Encoding": "gzip"})

    async def _strange(self, request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"x", headers={"Content-Type": "text/plain", "Content-Encoding": "zstd"})

    async def _broken(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000", "Content-Type": "text/plain"})
        await response.prepare(request)
        await response.write(b"a" * 10)
        assert request.transport is not None
        request.transport.close()
        return response

    async def _again(self, request: web.Request) -> web.StreamResponse:
        return web.Response(status=301, headers={"Location": "/again"})

    async def _busy(self, request: web.Request) -> web.StreamResponse:
        return web.Response(status=503)

    async def _forbidden(self, request: web.Request) -> web.StreamResponse:
        return web.Response(status=403)
