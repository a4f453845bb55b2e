"""ZIP files that unfold, overlap, lie and lead out."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator

from tests.bot.parsers import builders
from tests.journeys.hostile.file import WORDS, HostileFile

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def bombs() -> Iterator[HostileFile]:
    flat = with_bomb(builders.epub({}, parts={"OPS/book.opf": opf("a")}), "OPS/a.xhtml", 300)
    yield HostileFile("zip bomb, flat", "flat.epub", flat, "256")
    for name, method in (("bzip2", zipfile.ZIP_BZIP2), ("lzma", zipfile.ZIP_LZMA)):
        yield HostileFile(f"zip bomb, {name}", f"{name}.epub", packed_with(method, 22), "in parts")
    nested = builders.archive({"0.zip": with_bomb(builders.archive({}), "0", 300)})
    yield HostileFile("zip bomb, nested", "nested.zip", nested, "ZIP")
    yield HostileFile("zip bomb, overlapping entries", "overlap.epub", overlapping_epub(300), "256")
    yield HostileFile("zip, sizes of 4 GB declared", "huge.epub", declaring(epub_of(WORDS), 2**32 - 2), "256")
    yield HostileFile("zip, sizes too small declared", "small.epub", declaring(epub_of(WORDS * 9_000), 10), "damaged")
    yield HostileFile("docx bomb", "bomb.docx", with_bomb(builders.archive({}), "word/document.xml", 300), "256")


def opf(*names: str) -> str:
    items = "".join(f'<item id="{n}" href="{n}.xhtml" media-type="application/xhtml+xml"/>' for n in names)
    refs = "".join(f'<itemref idref="{n}"/>' for n in names)
    return (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A Test</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{refs}</spine></package>"
    )


def declaring(archive: bytes, size: int) -> bytes:
    """The archive, with this size declared for every member in its directory."""
    forged, at = bytearray(archive), 0
    while (at := forged.find(b"PK\x01\x02", at)) >= 0:
        struct.pack_into("<L", forged, at + 24, size)
        at += 4
    return bytes(forged)


def with_bomb(archive: bytes, name: str, megabytes: int) -> bytes:
    """The archive with one member more, a few kilobytes that unfold to so many megabytes."""
    block = b"<p>" + b"A" * (2**20 - 3)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = (packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)) * megabytes + b"\x03\x00"
    checksum = 0
    for _ in range(megabytes):
        checksum = zlib.crc32(block, checksum)
    out = io.BytesIO(archive)
    with zipfile.ZipFile(out, "a") as target:
        target.writestr(name, packed)
        header = target.getinfo(name).header_offset
    forged = bytearray(out.getvalue())
    for at in (header + 8, forged.rindex(b"PK\x01\x02") + 10):
        struct.pack_into("<H4xLLL", forged, at, zipfile.ZIP_DEFLATED, checksum, len(packed), megabytes * 2**20)
    return bytes(forged)


def packed_with(method: int, megabytes: int) -> bytes:
    """A book of one chapter that is so long, packed in another way than usual."""
    out = io.BytesIO(builders.epub({}, parts={"OPS/book.opf": opf("a")}))
    with zipfile.ZipFile(out, "a", method) as target:
        target.writestr("OPS/a.xhtml", b"<p>" + b"A" * (megabytes * 2**20))
    return out.getvalue()


def overlapping_epub(count: int) -> bytes:
    """Chapters that all lie in the same bytes of the archive, a megabyte each."""
    names = [f"c{number}" for number in range(count)]
    out = io.BytesIO(
        builders.archive(
            {
                "META-INF/container.xml": '<c><rootfile full-path="OPS/book.opf"/></c>',
                "OPS/book.opf": opf(*names),
                "OPS/kernel": b"<p>" + b"A" * 1_000_000,
            }
        )
    )
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as target:
        kernel = target.getinfo("OPS/kernel")
        for name in names:
            twin = zipfile.ZipInfo(f"OPS/{name}.xhtml")
            for field in ("compress_type", "CRC", "compress_size", "file_size", "header_offset"):
                setattr(twin, field, getattr(kernel, field))
            twin.orig_filename = twin.filename
            target.filelist.append(twin)
            target.NameToInfo[twin.filename] = twin
        target._didModify = True  # type: ignore[attr-defined]  # the directory is to be written anew
    return out.getvalue()


def linking_epub() -> bytes:
    out = io.BytesIO(builders.epub({}, parts={"OPS/book.opf": opf("a", "b"), "OPS/b.xhtml": f"<p>{WORDS}</p>"}))
    with zipfile.ZipFile(out, "a") as target:
        link = zipfile.ZipInfo("OPS/a.xhtml")
        link.external_attr = 0o120777 << 16
        target.writestr(link, "/etc/passwd")
    return out.getvalue()


def epub_of(body: str) -> bytes:
    return builders.epub({"a.xhtml": f"<p>{body}</p>"})
