"""PDFs that never end, and PDFs that nothing holds together."""

import io
import zlib
from collections.abc import Iterator, Mapping

from tests.bot.parsers.builders import numbered_pdf
from tests.journeys.hostile.file import WORDS, HostileFile


def broken_pdfs() -> Iterator[HostileFile]:
    yield HostileFile(
        "pdf, pages in a circle", "circle.pdf", pdf_of({2: b"<< /Type /Pages /Kids [2 0 R] /Count 9 >>"}), "PDF"
    )
    deep = {n: b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (n + 1) for n in range(2, 5_000)}
    yield HostileFile("pdf, pages 5,000 deep", "deep.pdf", pdf_of(deep), "PDF")
    many = b"<< /Type /Pages /Kids [%s] /Count 1000000 >>" % (b"3 0 R " * 60_000)
    yield HostileFile("pdf, a million pages", "million.pdf", pdf_of({2: many, 3: _page(4)}), "20,000")
    claimed = b"<< /Type /Pages /Kids [3 0 R] /Count 2147483647 >>"
    yield HostileFile("pdf, two billion pages claimed", "billion.pdf", pdf_of({2: claimed, 3: _page(4)}), "PDF")
    yield HostileFile("pdf, nothing but a header", "header.pdf", b"%PDF-1.7\n", "PDF")
    yield HostileFile("pdf, its index leads in a circle", "xref.pdf", _circling_xref(), "PDF")
    numbers = numbered_pdf([[WORDS, f"{page}. {WORDS}"] for page in range(3)], lambda letter: ord(letter) - 29)
    yield HostileFile("pdf, letters that it does not name", "letters.pdf", numbers, "which letters they are")
    itself = {2: _PAGES, 3: _page(4), 4: b"[4 0 R 4 0 R]"}
    yield HostileFile("pdf, a page that holds itself", "itself.pdf", pdf_of(itself), "no text")


def winding_pdfs() -> Iterator[HostileFile]:
    yield HostileFile("pdf, a form that draws itself", "form.pdf", pdf_of(_recursive_form()))
    yield HostileFile(
        "pdf, a deflate bomb", "deflate.pdf", pdf_of({2: _PAGES, 3: _page(4), 4: _deflated(60_000_000, 1)})
    )
    yield HostileFile(
        "pdf, a bomb in a bomb", "chain.pdf", pdf_of({2: _PAGES, 3: _page(4), 4: _deflated(60_000_000, 2)})
    )
    nested = b"[" * 100_000
    yield HostileFile("pdf, arrays 100,000 deep", "arrays.pdf", pdf_of({2: _PAGES, 3: _page(4), 4: _stream(nested)}))
    length = b"<< /Length 4 0 R >>\nstream\nBT (x) Tj ET\nendstream"
    yield HostileFile("pdf, a length that names itself", "length.pdf", pdf_of({2: _PAGES, 3: _page(4), 4: length}))
    outline = {
        2: _PAGES,
        3: _page(4),
        4: _shown(WORDS),
        1: b"<< /Type /Catalog /Pages 2 0 R /Outlines 5 0 R >>",
        5: b"<< /First 6 0 R /Last 6 0 R >>",
        6: b"<< /Title (Around) /Parent 5 0 R /Next 6 0 R /First 6 0 R /Dest [3 0 R /Fit] >>",
    }
    yield HostileFile("pdf, an outline in a circle", "outline.pdf", pdf_of(outline))
    yield HostileFile("pdf, labels in a circle", "labels.pdf", _circling_labels())
    world = _page(4).replace(b"[0 0 400 600]", b"[-1e38 -1e38 1e38 1e38]")
    yield HostileFile("pdf, a page as large as the world", "world.pdf", pdf_of({2: _PAGES, 3: world, 4: _shown(WORDS)}))
    objects = _stream(b"7 0 2 10 << /Type /Pages >>", b"/Type /ObjStm /N 2000000000 /First 9 /Extends 7 0 R")
    extended = {2: _PAGES, 3: _page(4), 4: _shown(WORDS), 7: objects}
    yield HostileFile("pdf, objects that extend themselves", "objects.pdf", pdf_of(extended))
    forms = {n: _form_drawing(n + 1) for n in range(9, 40)}
    yield HostileFile(
        "pdf, forms in forms", "forms.pdf", pdf_of({2: _PAGES, 3: _page(4), 4: _stream(b"/X Do"), **forms})
    )


_PAGES = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"


def _page(contents: int) -> bytes:
    return (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 600] /Contents %d 0 R /Resources << /Font << /F1"
        b" << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> /XObject << /X 9 0 R >> >> >>" % contents
    )


def _stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (entries, len(data), data)


def _shown(text: str) -> bytes:
    return _stream(b"BT /F1 11 Tf 50 500 Td (%s) Tj ET" % text.encode())


def _deflated(size: int, times: int) -> bytes:
    data = b"BT /F1 11 Tf (x) Tj ET " + b" " * size
    for _ in range(times):
        data = zlib.compress(data, 1)
    return _stream(data, b"/Filter [%s]" % (b"/FlateDecode " * times))


def _form_drawing(other: int) -> bytes:
    """A form that draws another one ten times."""
    resources = b"/Resources << /XObject << /X %d 0 R >> >>" % other
    return _stream(b"/X Do " * 10, b"/Type /XObject /Subtype /Form /BBox [0 0 400 600] " + resources)


def _circling_labels() -> bytes:
    catalog = b"<< /Type /Catalog /Pages 2 0 R /PageLabels 9 0 R >>"
    labels = b"<< /Kids [9 0 R 9 0 R] /Limits [0 9] >>"
    return pdf_of({1: catalog, 2: _PAGES, 3: _page(4), 4: _shown(WORDS), 9: labels})


def _recursive_form() -> dict[int, bytes]:
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 400 600] /Resources << /XObject << /X 9 0 R >> >>"
    return {2: _PAGES, 3: _page(4), 4: _stream(b"/X Do " * 8), 9: _stream(b"/X Do", form)}


def pdf_of(objects: Mapping[int, bytes], trailer: bytes = b"") -> bytes:
    """A PDF of these objects, whatever they say; 1 is the catalog."""
    whole = {1: b"<< /Type /Catalog /Pages 2 0 R >>", **objects}
    out, offsets = io.BytesIO(), {}
    out.write(b"%PDF-1.7\n")
    for number, body in sorted(whole.items()):
        offsets[number] = out.tell()
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start, size = out.tell(), max(whole) + 1
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % size)
    for number in range(1, size):
        out.write(b"%010d 00000 n \n" % offsets[number] if number in offsets else b"0000000000 00000 f \n")
    out.write(b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start))
    return out.getvalue()


def _circling_xref() -> bytes:
    return b"%PDF-1.7\nxref\n0 1\n0000000000 65535 f \ntrailer\n<< /Size 1 /Prev 9 >>\nstartxref\n9\n%%EOF\n"


def encrypted_pdf() -> bytes:
    handler = b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >>" % (b"ab" * 32, b"cd" * 32)
    objects = {2: _PAGES, 3: _page(4), 4: _shown(WORDS), 8: handler}
    return pdf_of(objects, b"/Encrypt 8 0 R /ID [<00> <00>]")
