"""Small books of every format, written by hand: bytes a reader can be given."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.parsers.pdf.document import Picture

_LINE_HEIGHT = 14


@dataclass(frozen=True, slots=True)
class PdfLine:
    """A line of text on a PDF page; `x` from the left and `y` from the bottom of a page of 400 by 600 points."""

    text: str
    x: float = 50
    y: float | None = None
    size: float = 11
    bold: bool = False


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
    objects[6] = objects[3].replace(b"Helvetica", b"Helvetica-Bold")
    objects[4] = _stream(
        b"/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8", b"\x80"
    )
    kids = " ".join(f"{first_page + index} 0 R" for index in range(len(pages)))
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode()
    for index, lines in enumerate(pages):
        objects[first_page + index] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 600] /Contents {content + index} 0 R"
            " /Resources << /Font << /F1 3 0 R /F2 6 0 R >> /XObject << /I1 4 0 R >> >> >>"
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


def scanned_pdf(pictures: Sequence[Picture], *, labels: str = "") -> bytes:
    """A PDF whose pages are these pictures and nothing else."""
    objects: dict[int, bytes] = {5: b"<< >>"}
    first, count = 10, len(pictures)
    for index, picture in enumerate(pictures):
        width, height = picture.width * picture.points, picture.height * picture.points
        image, content = first + count + index, first + 2 * count + index
        entries = b"/Type /XObject /Subtype /Image /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode"
        entries += b" /Width %d /Height %d" % (picture.width, picture.height)
        objects[image] = _stream(entries, zlib.compress(picture.pixels))
        objects[content] = _stream(b"", f"q {width} 0 0 {height} 0 0 cm /I1 Do Q".encode())
        objects[first + index] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents {content} 0 R"
            f" /Resources << /XObject << /I1 {image} 0 R >> >> >>"
        ).encode()
    kids = " ".join(f"{first + index} 0 R" for index in range(count))
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode()
    objects[1] = f"<< /Type /Catalog /Pages 2 0 R /PageLabels << /Nums [{labels}] >> >>".encode()
    return _file(objects)


def numbered_pdf(
    pages: Sequence[Sequence[str]], number: Callable[[str], int], letter: Callable[[str], str] | None = None
) -> bytes:
    """A PDF whose lines are the numbers of signs in a font. With `letter`, the font says what each of them means."""
    objects: dict[int, bytes] = {5: b"<< >>"}
    first, count = 20, len(pages)
    told = b"/ToUnicode 8 0 R" if letter else b""
    objects[3] = (
        b"<< /Type /Font /Subtype /Type0 /BaseFont /F /Encoding /Identity-H /DescendantFonts [6 0 R] %s >>" % told
    )
    objects[6] = (
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /F /FontDescriptor 7 0 R /DW 500 /CIDSystemInfo"
        b" << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>"
    )
    objects[7] = b"<< /Type /FontDescriptor /FontName /F /Flags 4 /FontBBox [0 0 999 999] /Ascent 800 /Descent -200 >>"
    if letter:
        rows = [f"<{number(sign):04X}> <{letter(sign).encode('utf-16-be').hex()}>" for sign in map(chr, range(32, 127))]
        table = (
            f"1 begincodespacerange <0000> <FFFF> endcodespacerange {len(rows)} beginbfchar {' '.join(rows)} endbfchar"
        )
        objects[8] = _stream(b"", f"begincmap {table} endcmap".encode())
    kids = " ".join(f"{first + index} 0 R" for index in range(count))
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode()
    objects[1] = b"<< /Type /Catalog /Pages 2 0 R >>"
    for index, lines in enumerate(pages):
        shown = "".join(
            f"0 -{_LINE_HEIGHT} Td <{''.join(f'{number(sign):04X}' for sign in line)}> Tj " for line in lines
        )
        objects[first + count + index] = _stream(b"", f"BT /F1 11 Tf 50 560 Td {shown}ET".encode())
        objects[first + index] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 900 600] /Contents {first + count + index} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        ).encode()
    return _file(objects)


def _text_stream(lines: Sequence[str | PdfLine]) -> bytes:
    placed = []
    y = 560.0
    for line in lines:
        line = PdfLine(line) if isinstance(line, str) else line
        y = line.y if line.y is not None else y - _LINE_HEIGHT
        font = "F2" if line.bold else "F1"
        placed.append(f"BT /{font} {line.size} Tf 1 0 0 1 {line.x} {y} Tm ".encode() + _literal(line.text) + b" Tj ET")
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


def fb2(body: str, *, encoding: str = "utf-8", notes: str = "") -> bytes:
    """An FB2 by Ann Author; `body` and `notes` are inner markup."""
    title = (
        "<book-title>A Test</book-title><author><first-name>Ann</first-name><last-name>Author</last-name></author>"
        "<lang>ru</lang>"
    )
    book = (
        f'<?xml version="1.0" encoding="{encoding}"?><FictionBook xmlns:l="http://www.w3.org/1999/xlink">'
        f"<description><title-info>{title}</title-info></description><body>{body}</body>"
        f'<body name="notes">{notes}</body><binary id="cover.jpg">{"QUJD" * 99}</binary></FictionBook>'
    )
    return book.encode(encoding)


def odt(body: str, *, manifest: str = "") -> bytes:
    """An ODT with this inner markup of its text."""
    meta = "<dc:title>A Test</dc:title><meta:initial-creator>Ann Author</meta:initial-creator>"
    content = f"<office:document-content><office:body><office:text>{body}</office:text></office:body>"
    return archive(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<?xml version='1.0'?>{content}</office:document-content>",
            "meta.xml": f"<office:document-meta>{meta}<dc:language>en</dc:language></office:document-meta>",
            **({"META-INF/manifest.xml": manifest} if manifest else {}),
        }
    )


def mobi(
    text: bytes,
    *,
    compression: str = "none",
    contents: Sequence[tuple[str, int, int]] = (),
    encryption: int = 0,
    kind: bytes = b"BOOKMOBI",
) -> bytes:
    """A MOBI in UTF-8 of the old way; `contents` are titles with the byte they point to and their depth from 0."""
    packed, helpers = _packed(text, compression)
    index = _index([(str(n), {1: [at], 3: [0], 4: [depth]}, title) for n, (title, at, depth) in enumerate(contents)])
    places = {112: 1 + len(packed), 116: len(helpers), 244: 1 + len(packed) + len(helpers) if contents else ABSENT}
    head = _mobi_head(len(packed), compression, places, encryption=encryption, version=6)
    return _palm_database([head, *packed, *helpers, *(index if contents else [])], kind)


def azw3(parts: Sequence[tuple[bytes, Sequence[tuple[int, bytes]]]], contents: Sequence[tuple[str, int, int]]) -> bytes:
    """A KF8 book. A part is its skeleton and the fragments to put into it, each with its place in the part so far;
    `contents` are titles with the number of a fragment and an offset in it."""
    text = b""
    skeletons: list[tuple[str, Mapping[int, Sequence[int]], str]] = []
    fragments: list[tuple[str, Mapping[int, Sequence[int]], str]] = []
    for skeleton, pieces in parts:
        start = len(text)
        skeletons.append((f"SKEL{len(skeletons)}", {1: [len(pieces)], 6: [start, len(skeleton)]}, ""))
        text += skeleton
        for place, piece in pieces:
            fragments.append((f"{start + place:010}", {6: [0, len(piece)]}, ""))
            text += piece
    lines = [(str(n), {3: [0], 4: [0], 6: [row, offset]}, title) for n, (title, row, offset) in enumerate(contents)]
    tables = [_index(skeletons), _index(fragments), _index(lines)]
    flows = b"FDST" + struct.pack(">LLLLLL", 12, 2, 0, len(text), len(text), len(text) + 20)
    packed = _pieces(text + b"p { color: magenta } ")
    first = 1 + len(packed)
    starts = [first, first + len(tables[0]), first + len(tables[0]) + len(tables[1])]
    places = {252: starts[0], 248: starts[1], 244: starts[2], 192: starts[2] + len(tables[2])}
    head = _mobi_head(len(packed), "none", places, version=8)
    return _palm_database([head, *packed, *tables[0], *tables[1], *tables[2], flows])


ABSENT = 0xFFFFFFFF


def _pieces(text: bytes) -> list[bytes]:
    return [text[start : start + 4_096] for start in range(0, len(text), 4_096)]


def _packed(text: bytes, compression: str) -> tuple[list[bytes], list[bytes]]:
    """The text's records in a compression, and the records that go with it."""
    if compression == "palmdoc":
        return [*map(_palmdoc, _pieces(text))], []
    if compression == "huff":
        return [bytes(255 - byte for byte in piece) for piece in _pieces(text)], huffman_tables()
    return _pieces(text), []


def huffman_tables(phrases: Mapping[int, bytes] | None = None) -> list[bytes]:
    """HUFF and CDIC records in which the code 255 - n is the byte n; `phrases` puts packed phrases in place of some."""
    code = 255 << 8 | 0x80 | 8
    huff = b"HUFF" + struct.pack(">LLLLL", 24, 24, 24 + 1_024, 0, 0) + struct.pack(">256L", *[code] * 256) + bytes(256)
    entries, offsets = b"", []
    for number in range(256):
        offsets.append(512 + len(entries))
        phrase = (phrases or {}).get(number)
        entry = bytes([number]) if phrase is None else phrase
        entries += struct.pack(">H", len(entry) | (0x8000 if phrase is None else 0)) + entry
    return [huff, b"CDIC" + struct.pack(">LLL", 16, 256, 8) + struct.pack(">256H", *offsets) + entries]


def _palmdoc(piece: bytes) -> bytes:
    """Literals, blanks joined with the letter after them, and copies of three bytes."""
    out, at = bytearray(), 0
    while at < len(piece):
        back = piece.rfind(piece[at : at + 3], max(0, at - 2_047), at)
        if back >= 0 and at + 3 <= len(piece):
            out += struct.pack(">H", 0x8000 | (at - back) << 3)
            at += 3
        elif piece[at] == 0x20 and at + 1 < len(piece) and 0x40 <= piece[at + 1] < 0x80:
            out.append(piece[at + 1] ^ 0x80)
            at += 2
        elif piece[at] >= 0x80 or 1 <= piece[at] <= 8:
            out += bytes([1, piece[at]])
            at += 1
        else:
            out.append(piece[at])
            at += 1
    return bytes(out)


def _mobi_head(
    count: int, compression: str, places: Mapping[int, int], *, encryption: int = 0, version: int = 6
) -> bytes:
    code = {"none": 1, "palmdoc": 2, "huff": 0x4448}[compression]
    name = b"A Test"
    fields = ((100, b"Ann Author"), (100, b"Bob Smith"), (524, b"en"))
    exth = b"".join(struct.pack(">LL", kind, 8 + len(value)) + value for kind, value in fields)
    head = bytearray(struct.pack(">HHLHHHH", code, 0, 0, count, 4_096, encryption, 0) + b"MOBI" + bytes(260))
    values = {20: 264, 28: 65_001, 36: version, 84: 280 + 12 + len(exth), 88: len(name), 128: 0x40}
    absent = dict.fromkeys((112, 192, 244, 248, 252), ABSENT)
    for offset, value in (absent | values | dict(places)).items():
        struct.pack_into(">L", head, offset, value)
    return bytes(head) + b"EXTH" + struct.pack(">LL", 12 + len(exth), len(fields)) + exth + name


def _index(entries: Sequence[tuple[str, Mapping[int, Sequence[int]], str]]) -> list[bytes]:
    """The records of an index of labels, values by tag, and strings, whose offset becomes the value of tag 3."""
    tags = ((1, 1, 1), (3, 1, 2), (4, 1, 4), (6, 2, 8))
    table = b"".join(bytes([*tag, 0]) for tag in tags) + bytes([0, 0, 0, 1])
    head = bytearray(192)
    head[:8] = b"INDX" + struct.pack(">L", 192)
    struct.pack_into(">L", head, 24, 1)
    strings, packed, starts = b"", b"", []
    for label, values, string in entries:
        starts.append(192 + len(packed))
        packed += bytes([len(label)]) + label.encode()
        packed += bytes([sum(mask for tag, _, mask in tags if tag in values)])
        for tag, _, _ in tags:
            for value in values.get(tag, ()):
                packed += _forward(len(strings) if tag == 3 else value)
        strings += _forward(len(string.encode())) + string.encode()
    data = bytearray(192)
    data[:8] = b"INDX" + struct.pack(">L", 192)
    struct.pack_into(">LL", data, 20, 192 + len(packed), len(entries))
    places = b"IDXT" + struct.pack(f">{len(starts)}H", *starts)
    return [
        bytes(head) + b"TAGX" + struct.pack(">LL", 12 + len(table), 1) + table,
        bytes(data) + packed + places,
        strings,
    ]


def _forward(value: int) -> bytes:
    """A number of seven bits a byte, the eighth of the last byte set."""
    digits = [value & 0x7F | 0x80]
    while value := value >> 7:
        digits.insert(0, value & 0x7F)
    return bytes(digits)


def _palm_database(records: Sequence[bytes], kind: bytes = b"BOOKMOBI") -> bytes:
    start = 78 + 8 * len(records) + 2
    table = b""
    for record in records:
        table += struct.pack(">LL", start, 0)
        start += len(record)
    return bytes(60) + kind + bytes(8) + struct.pack(">H", len(records)) + table + bytes(2) + b"".join(records)
