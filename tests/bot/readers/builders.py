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
