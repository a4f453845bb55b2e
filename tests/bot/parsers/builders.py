"""Small books of every format, written by hand: bytes a reader can be given."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_LINE_HEIGHT = 14


@dataclass(frozen=True, slots=True)
class PdfLine:
    """A line of text on a PDF page; `x` from the left and `y` from the bottom of a page of 400 by 600 points."""

    text: str
    x: float = 50
    y: float | None = None
    size: float = 11


def pdf(
    pages: Sequence[Sequence[str | PdfLine]],
    *,
    labels: str = "",
    outline: Sequence[tuple[str, int]] = (),
    title: str = "",
    author: str = "",
    pictures: bool = False,
) -> bytes:
    """A PDF in Helvetica. `labels` is the Nums array of a page label tree; `outline` pairs titles with page indexes.

    With `pictures`, pages without lines show an image.
    """
    objects: dict[int, bytes] = {}
    first_page, content = 10, 10 + len(pages)
    objects[3] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    objects[4] = _stream(
        b"/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8", b"\x80"
    )
    kids = " ".join(f"{first_page + index} 0 R" for index in range(len(pages)))
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode()
    for index, lines in enumerate(pages):
        objects[first_page + index] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 600] /Contents {content + index} 0 R"
            " /Resources << /Font << /F1 3 0 R >> /XObject << /I1 4 0 R >> >> >>"
        ).encode()
        shown = b"q 400 0 0 600 0 0 cm /I1 Do Q" if pictures and not lines else _text_stream(lines)
        objects[content + index] = _stream(b"", shown)
    catalog = "/Type /Catalog /Pages 2 0 R"
    if labels:
        catalog += f" /PageLabels << /Nums [{labels}] >>"
    if outline:
        root = content + len(pages)
        objects |= _outline_objects(root, outline, first_page)
        catalog += f" /Outlines {root} 0 R"
    objects[1] = f"<< {catalog} >>".encode()
    objects[5] = b"<< /Title " + _literal(title) + b" /Author " + _literal(author) + b" >>"
    return _file(objects)


def _text_stream(lines: Sequence[str | PdfLine]) -> bytes:
    placed = []
    y = 560.0
    for line in lines:
        line = PdfLine(line) if isinstance(line, str) else line
        y = line.y if line.y is not None else y - _LINE_HEIGHT
        placed.append(f"BT /F1 {line.size} Tf 1 0 0 1 {line.x} {y} Tm ".encode() + _literal(line.text) + b" Tj ET")
    return b"\n".join(placed)


def _literal(text: str) -> bytes:
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return b"(" + escaped.encode("cp1252") + b")"


def _stream(entries: bytes, data: bytes) -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (entries, len(data), data)


def _outline_objects(root: int, outline: Sequence[tuple[str, int]], first_page: int) -> dict[int, bytes]:
    numbers = [root + 1 + index for index in range(len(outline))]
    objects = {root: f"<< /Type /Outlines /First {numbers[0]} 0 R /Last {numbers[-1]} 0 R >>".encode()}
    for index, (title, page) in enumerate(outline):
        links = f" /Prev {numbers[index - 1]} 0 R" if index else ""
        links += f" /Next {numbers[index + 1]} 0 R" if index + 1 < len(outline) else ""
        entry = f"/Parent {root} 0 R /Dest [{first_page + page} 0 R /Fit]{links}".encode()
        objects[numbers[index]] = b"<< /Title " + _literal(title) + b" " + entry + b" >>"
    return objects


def _file(objects: Mapping[int, bytes]) -> bytes:
    out = io.BytesIO()
    out.write(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    offsets = {}
    for number in sorted(objects):
        offsets[number] = out.tell()
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, objects[number]))
    start = out.tell()
    size = max(objects) + 1
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % size)
    for number in range(1, size):
        entry = b"%010d 00000 n \n" % offsets[number] if number in offsets else b"0000000000 00000 f \n"
        out.write(entry)
    out.write(b"trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start))
    return out.getvalue()


_CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    """A ZIP file of these parts, in order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for path, part in parts.items():
            target.writestr(path, part)
    return out.getvalue()


def xhtml(body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html>'
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">'
        f"<head><title/></head><body>{body}</body></html>"
    )


def epub(
    documents: Mapping[str, str],
    *,
    nav: str = "",
    ncx: str = "",
    metadata: str = "<dc:title>A Test</dc:title><dc:creator>Ann Author</dc:creator><dc:language>en</dc:language>",
    not_linear: Sequence[str] = (),
    guide: str = "",
    parts: Mapping[str, str | bytes] | None = None,
    hrefs: Mapping[str, str] | None = None,
) -> bytes:
    """An EPUB of these documents (file name to body) in this order.

    `nav` and `ncx` are the inner markup of the tables; `hrefs` changes how the manifest writes a file's name; `parts`
    adds files to the archive or, if empty strings, takes them away.
    """
    items, references = "", ""
    for number, name in enumerate(documents):
        href = (hrefs or {}).get(name, name)
        items += f'<item id="i{number}" href="{href}" media-type="application/xhtml+xml"/>'
        references += (
            f'<itemref idref="i{number}"{" linear=" + chr(34) + "no" + chr(34) if name in not_linear else ""}/>'
        )
    if nav:
        items += '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
    if ncx:
        items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{metadata}</metadata><manifest>{items}</manifest>'
        f"<spine{' toc=' + chr(34) + 'ncx' + chr(34) if ncx else ''}>{references}</spine>{guide}</package>"
    )
    contents: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": _CONTAINER,
        "OPS/book.opf": package,
        **{f"OPS/{name}": xhtml(body) for name, body in documents.items()},
        "OPS/nav.xhtml": xhtml(nav) if nav else "",
        "OPS/toc.ncx": f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/">{ncx}</ncx>' if ncx else "",
    }
    contents.update(parts or {})
    return archive({path: part for path, part in contents.items() if part})


_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def docx(body: str, *, parts: Mapping[str, str] | None = None) -> bytes:
    """A DOCX with this inner markup of its body; `parts` adds files such as word/styles.xml."""
    return archive({"word/document.xml": f"<w:document {_WORD}><w:body>{body}</w:body></w:document>", **(parts or {})})


def docx_part(name: str, inner: str) -> str:
    """A part of a DOCX with this root element."""
    return f"<w:{name} {_WORD}>{inner}</w:{name}>"


def docx_paragraph(text: str, style: str = "", *, before: str = "") -> str:
    """A paragraph of one run; `before` is markup that comes first in the run."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r>{before}<w:t>{text}</w:t></w:r></w:p>"
