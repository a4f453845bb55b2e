"""Chapters in books of all kinds and languages: what a reader's own table of contents has, and nothing else."""

from dataclasses import dataclass
from importlib.resources import files

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.parsers.formats import read_book
from bot.parsers.headings import parse_any_label, parse_numeral
from bot.parsers.text.parser import read_plain
from domain.book import BookText, Chapter
from domain.library.numerals import number_value
from tests.bot.parsers.builders import epub
from tests.bot.parsers.invariants import check, titles
from tests.bot.parsers.prose import paragraph, prose

_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")


def plain(*headings: str, gap: int = 3, contents: str = "") -> BookText:
    """A novel in plain text: prose under each heading, blank lines above it, perhaps a table of contents in front."""
    parts = [f"{heading}\n\n{prose(10 * number)}" for number, heading in enumerate(headings)]
    return check(read_plain("\n" * gap + ("\n" * (gap + 1)).join([contents, *parts] if contents else parts)))


def leaves(book: BookText) -> list[Chapter]:
    """The chapters that hold no others."""
    following = [*book.chapters[1:], None]
    return [
        each for each, below in zip(book.chapters, following, strict=True) if not below or below.level <= each.level
    ]


def printed(book: BookText) -> list[str]:
    return [chapter.printed for chapter in leaves(book)]


@dataclass(frozen=True)
class Line:
    """A line of an EPUB's contents, with those under it."""

    title: str
    href: str
    inner: tuple["Line", ...] = ()


def nav(*lines: Line) -> str:
    def listed(items: tuple[Line, ...]) -> str:
        entries = [f'<li><a href="{each.href}">{each.title}</a>{listed(each.inner)}</li>' for each in items]
        return f"<ol>{''.join(entries)}</ol>" if entries else ""

    return f'<nav epub:type="toc">{listed(lines)}</nav>'


LANGUAGES = {
    "Italian": ("CAPITOLO PRIMO", "CAPITOLO SECONDO", "CAPITOLO TERZO"),
    "Russian": ("Глава первая", "Глава вторая", "Глава двадцать первая"),
    "Polish": ("Rozdział pierwszy", "Rozdział drugi", "Rozdział trzeci"),
    "Finnish": ("ENSIMMÄINEN LUKU", "TOINEN LUKU", "KOLMAS LUKU"),
    "Dutch": ("EERSTE HOOFDSTUK", "TWEEDE HOOFDSTUK", "DERDE HOOFDSTUK"),
    "Arabic": ("الفصل الأول", "الفصل الثاني", "الفصل الثالث"),
    "Greek": ("ΚΕΦΑΛΑΙΟ Α", "ΚΕΦΑΛΑΙΟ Β", "ΚΕΦΑΛΑΙΟ Γ"),
    "Hungarian": ("ELSŐ FEJEZET", "MÁSODIK FEJEZET", "HARMADIK FEJEZET"),
    "Korean": ("제1장 봄", "제2장 여름", "제3장 가을"),
    "Portuguese": ("CAPÍTULO PRIMEIRO", "CAPÍTULO II", "CAPÍTULO III"),
    "German with a misprint": ("Dreißigstes Kapitel", "Einunddreißgstes Kapitel", "Zweiunddreißigstes Kapitel"),
    "Hindi": ("अध्याय १", "अध्याय २: नदी", "अध्याय ३"),
    "Hindi ordinals": ("पहला अध्याय", "दूसरा अध्याय", "तीसरा अध्याय"),
    "Ukrainian": ("Розділ четвертий", "Розділ п'ятий", "Розділ дев’ятий"),
    "Bengali": ("অধ্যায় ১", "অধ্যায় ২", "অধ্যায় ৩"),
    "Tamil": ("அத்தியாயம் 1", "அத்தியாயம் 2", "அத்தியாயம் 3"),
    "Thai": ("บทที่ ๑", "บทที่ ๒ นา", "บทที่ ๓"),
    "Persian": ("فصل ۱", "فصل ۲", "فصل ۳"),
    "Urdu": ("باب اول", "باب دوم", "باب سوم"),
    "Georgian": ("თავი 1", "თავი 2", "თავი მესამე"),
    "Armenian": ("ԳԼՈՒԽ 1", "ԳԼՈՒԽ 2", "ԳԼՈՒԽ ԵՐՐՈՐԴ"),
    "French letters": ("LETTRE PREMIÈRE", "LETTRE II", "LETTRE III"),
}


@pytest.mark.parametrize(
    ("headings", "values"),
    [
        (("פרק ט״ו", "פרק ט״ז", 'פרק י"ז'), (15, 16, 17)),
        (("ΚΕΦΑΛΑΙΟ ΣΤ΄", "ΚΕΦΑΛΑΙΟ Ζ΄", "ΚΕΦΑΛΑΙΟ ΙΑ΄"), (6, 7, 11)),
        (("פרק של הספר", "פרק א", "פרק ב"), (None, 1, 2)),
    ],
)
def test_letters_count_in_hebrew_and_greek(headings: tuple[str, ...], values: tuple[int | None, ...]) -> None:
    labels = [parse_any_label(heading) for heading in headings]
    assert tuple(label.value if label else None for label in labels) == values


@pytest.mark.parametrize("language", LANGUAGES)
def test_chapters_are_numbered_in_every_language(language: str) -> None:
    chapters = plain(*LANGUAGES[language]).chapters
    assert len(chapters) == 3
    assert all(chapter.printed for chapter in chapters)


def test_a_heading_may_begin_with_any_letter() -> None:
    """Georgian has no capitals at the beginning of a word, and "İ" is a letter in the index of a Turkish book."""
    for letter in filter(str.isalpha, map(chr, range(0x80, 0x1_0000))):
        for form in ("{}", "{}a 1", "{}V.", "V{}"):
            parse_any_label(form.format(letter))
            parse_numeral(form.format(letter))
    page = "".join(f"<h2>{name}</h2><p>{prose(at)}</p>" for at, name in enumerate(("თავი 1", "İ", "ª", "თავი 2")))
    assert titles(check(read_book(page.encode(), "a.html"))) == ["თავი 1", "İ", "ª", "თავი 2"]


def test_a_misspelt_a_doubled_and_a_bare_heading_in_a_regular_series() -> None:
    book = plain("CHAPTER I", "CHAPTER II", "CHAPER III", "CHAPTER IV", "CHAPTER IV", "VI.", "CHAPTER VII")
    assert printed(book) == ["I", "II", "III", "IV", "IV", "VI", "VII"]


def test_two_forms_of_heading_in_one_book() -> None:
    book = plain("ADVENTURE I. A SCANDAL", "ADVENTURE II. A LEAGUE", "III. THE CARBUNCLE", "IV. THE THUMB")
    assert printed(book) == ["I", "II", "III", "IV"]


def test_a_contents_page_with_volumes_books_and_chapters_is_no_chapter() -> None:
    lines = [f"  CHAPTER {number}--THE {name}" for number, name in zip(_ROMAN, ("HOUSE", "ROAD", "SEA"), strict=False)]
    table = "CONTENTS\n\nVOLUME I.\n\n  BOOK FIRST\n" + "\n".join(lines) + "\n  BOOK SECOND\n" + "\n".join(lines[:2])
    headings = (
        "VOLUME I.\n\n\n\nBOOK FIRST\n\n\n\nCHAPTER I--THE HOUSE",
        "CHAPTER II--THE ROAD",
        "CHAPTER III--THE SEA",
    )
    book = plain(*headings, "BOOK SECOND\n\n\n\nCHAPTER I--THE HOUSE", "CHAPTER II--THE ROAD", contents=table)
    assert [(each.printed, each.parent, each.level) for each in leaves(book)] == [
        ("I", "Book First", 3),
        ("II", "Book First", 3),
        ("III", "Book First", 3),
        ("I", "Book Second", 3),
        ("II", "Book Second", 3),
    ]
    assert all(chapter.start > book.text.index("BOOK SECOND") for chapter in book.chapters)


@pytest.mark.parametrize(
    "line", ["{number}. {title} . . . {page}", "{number}. {title} {page}", "{title} . . . . {page}"]
)
@pytest.mark.parametrize("label", ["CHAPTER {number}", "CHAPTER {number}.", "{number}"])
def test_the_first_label_right_below_the_contents_is_no_line_of_them(line: str, label: str) -> None:
    names = ("THE WEIGHHOUSE", "A TOLL OF ASHES", "UNDER THE LIME TREES", "LOW WATER")
    chapters = [*zip(_ROMAN, names, (1, 15, 30, 44), strict=False)]
    contents = "\n".join(line.format(number=number, title=title, page=page) for number, title, page in chapters)
    told = "".join(f"\n\n\n{label.format(number=n)}\n\n{title}\n\n{prose(page)}" for n, title, page in chapters)
    book = check(read_plain(f"THE SALT ROAD\n\nBY\n\nMAREN QUILL\n\n\nCONTENTS\n\n{contents}\n\n{told}"))
    assert printed(book) == [*_ROMAN[:4]]


def test_titles_that_only_the_contents_mark_as_such() -> None:
    names = ("The Rose", "To the Sea", "An Ode on Nothing", "Spring")
    table = "Contents\n\n" + "\n".join(f"{name} . . . . . . {10 * page}" for page, name in enumerate(names))
    assert titles(plain(*names, gap=1, contents=table)) == list(names)


def test_a_contents_page_at_the_end() -> None:
    names = ("ROSES", "LIS", "CHATS")
    chapters = [f"{_ROMAN[at]}\n\nLE CHAPITRE DES {name}\n\n{prose(9 * at)}" for at, name in enumerate(names)]
    table = [f"{_ROMAN[at]}. Le chapitre des {name.lower()} ... {9 * at}" for at, name in enumerate(names)]
    book = check(read_plain("\n\n\n".join([*chapters, "TABLE DES MATIÈRES", "\n".join(table)])))
    assert printed(book) == ["I", "II", "III"]
    assert book.chapters[-1].end <= book.text.index("TABLE DES")


def test_numbers_that_only_the_contents_print() -> None:
    contents = "<h2>Contents</h2>" + "".join(
        f"<p>{n}. {name}</p>" for n, name in enumerate(("Dusk", "Night", "Dawn"), 1)
    )
    body = "".join(f"<h2>{name}</h2><p>{prose(5)}</p>" for name in ("Dusk", "Night", "Dawn"))
    book = check(read_book(f"<html><body><h1>A Book</h1>{contents}{body}</body></html>".encode(), "a.html"))
    assert printed(book) == ["1", "2", "3"]


def test_linked_contents_name_chapters_that_are_no_heading_elements() -> None:
    names = ("The Tale of Ann", "The Tale of Ben", "The Tale of Dora")
    links = "".join(f"<li><a href='#t{at}'>{name}</a></li>" for at, name in enumerate(names))
    tales = "".join(f"<p><a name='t{at}'></a><b>{name}</b></p><p>{paragraph(at)}</p>" for at, name in enumerate(names))
    book = check(read_book(f"<html><body><h1>Tales</h1><ul>{links}</ul>{tales}</body></html>".encode(), "a.html"))
    assert titles(book) == list(names)


def test_contents_that_name_every_other_chapter_lack_the_last_one_too() -> None:
    pages = {f"{at}.xhtml": f"<h2>Chapter {at}</h2><p>{prose(9 * at)}</p>" for at in range(1, 7)}
    contents = nav(*(Line(f"Chapter {at}", f"{at}.xhtml") for at in (1, 3, 5)))
    assert printed(check(read_book(epub(pages, nav=contents), "a.epub"))) == [*"123456"]


def test_contents_of_four_levels_in_an_epub() -> None:
    documents = {"v.xhtml": "<h1>Volume I</h1>", "b.xhtml": "<h2>Book 1: Of Things</h2>"}
    chapters = []
    for at in range(3):
        name = f"c{at}.xhtml"
        sections = f"<h4 id='s'>A first part</h4><p>{paragraph(at)}</p>"
        documents[name] = f"<h3>{_ROMAN[at]}</h3><p>{paragraph(at + 5)}</p>{sections}"
        chapters.append(Line(_ROMAN[at], name, (Line("A first part", f"{name}#s"),)))
    contents = nav(Line("Volume I", "v.xhtml", (Line("Book 1: Of Things", "b.xhtml", tuple(chapters)),)))
    book = check(read_book(epub(documents, nav=contents), "a.epub"))
    assert titles(book) == ["Volume I", "  Book 1: Of Things", "    Chapter I", "    Chapter II", "    Chapter III"]


def test_stories_that_are_divided_by_numbers_stay_whole() -> None:
    documents, entries = {}, []
    for at, name in enumerate(("The Cask", "The Gold Bug", "Ligeia", "Berenice")):
        path = f"{at}.xhtml"
        divided = [f"<h3 id='n{n}'>{_ROMAN[n]}</h3><p>{prose(n)}</p>" for n in range(3)] if at % 2 == 0 else []
        documents[path] = f"<h2>{name}</h2>{''.join(divided) or f'<p>{prose(3, 30)}</p>'}"
        entries.append(Line(name, path, tuple(Line(_ROMAN[n], f"{path}#n{n}") for n in range(len(divided)))))
    book = check(read_book(epub(documents, nav=nav(*entries)), "a.epub"))
    assert titles(book) == ["The Cask", "The Gold Bug", "Ligeia", "Berenice"]


@pytest.mark.parametrize(("novels", "count"), [(2, 4), (3, 4), (3, 12), (5, 6)])
@pytest.mark.parametrize("numbers", [_ROMAN, (*"123456789", "10", "11", "12")], ids=["Roman", "digits"])
def test_short_novels_with_many_numbers_each_hold_chapters(novels: int, count: int, numbers: tuple[str, ...]) -> None:
    documents: dict[str, str] = {}
    entries = []
    for name in ("Weir", "Tide", "Gale", "Ford", "Mill")[:novels]:
        chapters = tuple(Line(number, f"{name}{number}.xhtml") for number in numbers[:count])
        documents[name] = f"<h1>The {name}</h1>"
        documents |= {each.href: f"<h2>{each.title}</h2><p>{prose(len(documents), 8)}</p>" for each in chapters}
        entries.append(Line(f"The {name}", name, chapters))
    book = check(read_book(epub(documents, nav=nav(*entries)), "a.epub"))
    assert [(each.parent, each.printed) for each in leaves(book)] == [
        (entry.title, line.title) for entry in entries for line in entry.inner
    ]


@pytest.mark.parametrize("front", ["", "<p>Book of the Water Trilogy</p>", "<p>by Ada Perrin</p><p>For Nell</p>"])
@pytest.mark.parametrize("form", ["{}", "The {} Ferry"])
def test_novels_in_one_volume_hold_chapters_whatever_stands_on_their_title_pages(front: str, form: str) -> None:
    novels = ("The Weir", "The Tide", "The Gale")
    chapters = [form.format(number) for number in (*"123", "Epilogue")]
    long = f"<p>{'</p><p>'.join([paragraph(7, 20)] * 30)}</p>"
    page = "".join(
        f"<h1>{novel}</h1>{front}" + "".join(f"<h2>{each}</h2>{long}" for each in chapters) for novel in novels
    )
    book = check(read_book(page.encode(), "a.html"))
    assert [chapter.parent for chapter in leaves(book)] == [novel for novel in novels for _ in chapters]


def test_a_dedication_under_a_half_title_behind_the_contents_is_no_chapter() -> None:
    parts = ("Part One", "Part Two", "Part Three", "Part Four")
    lines = ("1. The Lock", "2. The Weir", "3. The Mill", f"4. The Ford {'and the Narrative of It ' * 12}")
    listed = "".join(f"<h3>{part}</h3><p>{line}</p>" for part, line in zip(parts, lines, strict=True))
    front = "<h2>The Weir</h2><p>To Ann, with the kindest wishes of her friend, the author.</p><h1>The Weir</h1>"
    told = "".join(f"<h1>{part}</h1><h2>{at}</h2><p>{prose(9 * at)}</p>" for at, part in enumerate(parts, start=1))
    book = check(read_book(f"<html><body>{listed}{front}{told}</body></html>".encode(), "a.html"))
    assert [each.title for each in book.chapters if each.level == 1] == [*parts]


def test_letters_and_days_and_scenes() -> None:
    scenes = [
        f"ACT {act}\n\nSCENE I. A street" if scene == 1 else "SCENE II. A room"
        for act in ("I", "II")
        for scene in (1, 2)
    ]
    assert [each.parent for each in leaves(plain(*scenes))] == ["Act I", "Act I", "Act II", "Act II"]
    days = [f"January {day}, 1900." for day in (1, 2, 5, 9, 12)]
    assert len(plain(*days).chapters) == 5


@pytest.mark.parametrize(
    ("form", "named"),
    [
        ("{} May. Bistritz.--", "{} May"),
        ("_{} May._—", "{} May"),
        ("{}. Mai. ", "{}. Mai"),
        ("Monday, {}th May 1862. — ", "Monday, {}th May 1862"),
        ("January {}, 1862.\n", "January {}, 1862"),
        ("Jan. {}th.--", "Jan. {}th"),
        ("Tues., Sept. {}th\n\n", "Tues., Sept. {}th"),
        ("{} févr. 1862\n\n", "{} févr. 1862"),
        ("{}. II. 1862\n\n", "{}. II. 1862"),
    ],
)
def test_the_days_of_a_diary_may_begin_its_paragraphs(form: str, named: str) -> None:
    days = (4, 5, 7, 9, 12, 15)
    entries = [form.format(day) + prose(20 * day) for day in days]
    book = check(read_plain("\n\n".join(["A COUNTRY DIARY", "by Ann Author", *entries])))
    assert titles(book) == [named.format(day) for day in days]


def test_days_that_begin_paragraphs_of_chapters_are_no_chapters() -> None:
    days = [f"Chapter {at}\n\n{day} May. Bistritz.--{paragraph(day)}" for at, day in enumerate(range(3, 9), start=1)]
    assert printed(plain(*days)) == [*"123456"]


def test_headings_with_no_blank_lines_around_them() -> None:
    text = "A NOVEL\nby Ann Author\n" + "".join(
        f"CHAPTER {number}\n{prose(3).replace(chr(10) * 2, chr(10))}\n" for number in _ROMAN[:5]
    )
    assert printed(check(read_plain(text))) == list(_ROMAN[:5])


@example(4, "Chapter {}. The Name of It", 1, True)
@given(
    st.integers(2, 12),
    st.sampled_from(["CHAPTER {}", "Chapter {}. The Name of It", "{}.", "LETTER {}", "Kapitel {}"]),
    st.integers(1, 4),
    st.booleans(),
)
def test_every_regular_series_is_found_whole(count: int, form: str, gap: int, has_contents: bool) -> None:
    headings = [form.format(number) for number in _ROMAN[:count]]
    table = (
        "CONTENTS\n\n" + "\n".join(f"{heading}   {10 * at}" for at, heading in enumerate(headings))
        if has_contents
        else ""
    )
    book = plain(*headings, gap=gap, contents=table)
    assert printed(book) == list(_ROMAN[:count])
    assert len(book.chapters) == count


@given(
    st.lists(
        st.sampled_from(
            ["CHAPTER I", "I.", "BOOK TWO", "Contents", "The end", "a line of it, and", "第一章", "\n", prose(1, 1)]
        )
    )
)
def test_any_mixture_of_headings_is_a_book(lines: list[str]) -> None:
    check(read_plain("\n".join(["Begin.", *lines])))


@pytest.mark.parametrize("name", ["play.txt", "play.md", "play.htm"])
def test_the_word_above_a_stage_direction_is_no_chapter(name: str) -> None:
    acts = [(f"ACT {act}", "SCENE", prose(10 * number)) for number, act in enumerate(("I", "II", "III"), start=1)]
    form = {
        "play.txt": "\n\n\n{}\n\n{}\n\n{}",
        "play.md": "\n\n## {}\n\n### {}\n\n{}",
        "play.htm": "<h2>{}</h2><h3>{}</h3><p>{}</p>",
    }[name]
    book = check(read_book("".join(form.format(*act) for act in acts).encode(), name))
    assert titles(book) == ["Act I", "Act II", "Act III"]


@pytest.mark.parametrize(
    "form", ["ACT {act}. SCENE {scene}. A hall.", "Act {act}, Scene {scene}", "[ACT {act}--SCENE {scene}]"]
)
def test_an_act_and_a_scene_in_one_line_are_a_scene_of_the_act(form: str) -> None:
    acts = [(act, scene) for act in ("I", "II") for scene in ("1", "2", "3")]
    book = plain(*(form.format(act=act, scene=scene) for act, scene in acts))
    expected = [(f"Act {act}", scene) for act, scene in acts]
    assert [(chapter.parent, chapter.printed) for chapter in book.chapters] == expected


def test_a_list_within_a_chapter_does_not_end_the_series_of_numerals() -> None:
    chapters = [f"{numeral}.\n\n{prose(10 * at, 5)}" for at, numeral in enumerate(("I", "II", "III", "IV"), start=1)]
    chapters[1] += "\n\n1. By road, which is long.\n\n2. By water, which is slow.\n\n" + prose(90, 2)
    assert titles(read_plain("\n\n\n".join(chapters))) == ["Chapter I", "Chapter II", "Chapter III", "Chapter IV"]


def test_tales_in_capitals_are_chapters_where_one_of_them_has_numbered_sections() -> None:
    names = ("THE LAMP", "THE CART", "THE EBB TIDE", "THE LETTER", "THE CLOCK", "THE HARBOUR WALL", "THE ROAD")
    tales = [f"{name}\n\n{prose(30 * at, 12)}" for at, name in enumerate(names, start=1)]
    tales[2] += "".join(
        f"\n\n{number}. HOW IT WENT ON {number}\n\n{prose(200 + 9 * number, 5)}" for number in (1, 2, 3)
    )
    book = read_plain("The Book of Tales\n\nby\n\nAnn Author\n\n" + "\n\n".join(tales))
    found = [title for title in titles(book) if not title[0].isdigit()]
    assert found == ["The Lamp", "The Cart", "The Ebb Tide", "The Letter", "The Clock", "The Harbour Wall", "The Road"]


TITLES_WITH_NUMBERS = (
    ("1. Supper at the Lamb", "1"),
    ("2. Nineteen Volumes", "2"),
    ("3. Second Act", "3"),
    ("IV. Two Volumes", "IV"),
    ("5. Book Club", "5"),
    ("6. Seven Sisters", "6"),
    ("7. First Letter", "7"),
    ("8. Four Hundred and Twelve", "8"),
)
CHAPTERS_WITH_NUMBERS = (
    ("Chapter 1 Four Men", "1"),
    ("Chapter 2 - Two Towers", "2"),
    ("Chapter 3. Nineteen Volumes", "3"),
    ("Chapter 4: Five", "4"),
    ("Chapter Twenty - Two Towers", "Twenty"),
    ("Chapter Twenty Two", "Twenty Two"),
    ("Twenty-third Chapter", "Twenty-third"),
)


@pytest.mark.parametrize("headings", [TITLES_WITH_NUMBERS, CHAPTERS_WITH_NUMBERS])
@pytest.mark.parametrize("form", ["# {}", "## {}"])
def test_a_number_at_the_front_of_a_title_is_no_part_of_the_chapters_own(
    headings: tuple[tuple[str, str], ...], form: str
) -> None:
    parts = (f"{form.format(title)}\n\n{prose(9 * at)}" for at, (title, _) in enumerate(headings))
    chapters = check(read_book("\n\n".join(parts).encode(), "a.md")).chapters
    assert [(each.printed, each.level) for each in chapters] == [(number, 1) for _, number in headings]


def test_numbered_titles_in_plain_text_may_begin_with_numbers_too() -> None:
    headings = ("1. Supper", "2. Nineteen Volumes", "3. Second Act", "4. Book Club", "5. Seven Sisters")
    assert titles(plain(*headings)) == list(headings)


@pytest.mark.parametrize(
    "title", ["Nineteen Volumes", "One Act", "The Seven Story Mountain", "Ein Brief", "Une lettre"]
)
def test_a_title_that_counts_is_not_numbered(title: str) -> None:
    names = ("Supper at the Lamb", title, "The Strap", "A Gap of Two Inches")
    book = check(read_book("".join(f"# {name}\n\n{prose(5)}\n\n" for name in names).encode(), "a.md"))
    assert [(each.title, each.printed, each.level) for each in book.chapters] == [(name, "", 1) for name in names]


@pytest.mark.parametrize(
    ("heading", "number"),
    [("1. Kapitel Der Anfang", "1"), ("Ein und dreißigstes Kapitel", "Ein und dreißigstes"), ("3. Teil", "3")],
)
def test_a_number_with_a_full_stop_may_stand_before_its_word(heading: str, number: str) -> None:
    book = check(read_book("".join(f"# {name}\n\n{prose(5)}\n\n" for name in (heading, "Ende gut")).encode(), "a.md"))
    assert book.chapters[0].printed == number


def test_the_sample_has_twelve_chapters_side_by_side() -> None:
    name = "return-on-the-ebb.md"
    book = check(read_book((files("bot.sample") / name).read_bytes(), name))
    assert [(each.printed, each.level) for each in book.chapters] == [(str(number), 1) for number in range(1, 13)]
    assert book.chapters[2].title == "3. Nineteen Volumes"


@pytest.mark.parametrize("form", ["- {} -", "{}", "– {} –"])
@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_contents_that_say_chapter_above_bare_numbers_are_no_chapter(form: str, between: str) -> None:
    numbers = range(1, 6)
    table = "Contents\n\n" + between.join(f"Chapter {number}" for number in numbers)
    book = plain(*(form.format(number) for number in numbers), contents=table)
    assert [(each.title, each.level) for each in book.chapters] == [(f"Chapter {number}", 1) for number in numbers]
    assert book.chapters[0].start > book.text.index("Chapter 5")


@pytest.mark.parametrize(
    "form",
    [
        "{n} {title}",
        "{roman} {title}",
        "{word}: {title}",
        "{word}. {title}",
        "{word} – {title}",
        "{n} - {title}",
        "{roman} - {title}",
        "{n}/ {title}",
        "#{n} {title}",
        "№ {n}. {title}",
        "No. {n}. {title}",
        "Log Entry {n}: {title}",
    ],
)
def test_a_series_of_numbers_before_titles_gives_the_chapters_their_numbers(form: str) -> None:
    words, names = ("One", "Two", "Three", "Four"), ("Markets", "Engines", "The River", "What Remains")
    headings = [form.format(n=at + 1, roman=_ROMAN[at], word=words[at], title=name) for at, name in enumerate(names)]
    page = "".join(f"<h2>{each}</h2><p>{paragraph(at)}</p>" for at, each in enumerate(headings))
    book = check(read_book(f"<h1>A History</h1><h2>Introduction</h2><p>{paragraph(9)}</p>{page}".encode(), "a.html"))
    assert [number_value(each) for each in printed(book)[1:]] == [1, 2, 3, 4]
    assert titles(book)[1:] == headings


def test_numbers_in_titles_that_do_not_count_are_none_of_chapters() -> None:
    headings = ("3 Men in a Boat", "Ten: A Play", "39 Steps", "20 Days")
    page = "".join(f"<h2>{each}</h2><p>{paragraph(at)}</p>" for at, each in enumerate(headings))
    assert printed(check(read_book(page.encode(), "a.html"))) == [""] * 4


@pytest.mark.parametrize("contents", ["", "Contents\n\n"])
def test_numbers_in_contents_between_blank_lines_are_no_chapters(contents: str) -> None:
    parts, numbers = ("Book One: Dust", "Book Two: Rain", "Book Three: Harvest"), _ROMAN[:4]
    table = "\n\n".join(f"{part}\n\n" + "\n\n".join(numbers) for part in parts)
    body = "\n\n".join(
        f"{part}\n\n" + "\n\n".join(f"{number}\n\n{prose(at)}" for at, number in enumerate(numbers)) for part in parts
    )
    book = check(read_plain(f"{contents}{table}\n\nTitle Page\n\n{body}"))
    assert printed(book) == [*numbers] * 3
    assert book.chapters[0].start > len(table)


@pytest.mark.parametrize("form", ["Chapter {word}: The Pool", "{roman}", "{n}. The Pool"])
def test_a_text_with_a_line_for_each_paragraph_has_chapters_too(form: str) -> None:
    words = ("One", "Two", "Three", "Four", "Five")
    chapters = [
        f"{form.format(word=word, roman=_ROMAN[at], n=at + 1)}\n{paragraph(at, 9)}\n\n{paragraph(50 + at, 9)}\n"
        f"{paragraph(90 + at)}\n"
        for at, word in enumerate(words)
    ]
    book = check(read_plain("The Lock\nAnn Weaver\n\n" + "".join(chapters)))
    assert [number_value(each) for each in printed(book)] == [1, 2, 3, 4, 5]


def test_pages_in_contents_are_no_numbers_of_chapters() -> None:
    names = ("Of Locks", "Of Water", "Of Sleep", "Of Keys", "Of Rain")
    table = "CONTENTS\n\n" + "\n".join(
        f"  {name}   {page}" for name, page in zip(names, (1, 20, 31, 44, 52), strict=True)
    )
    book = plain(*(name.upper() for name in names), contents=table)
    assert [(each.title, each.printed) for each in book.chapters] == [(name, "") for name in names]


def test_titles_set_apart_among_scene_breaks_that_are_too() -> None:
    names = ("The Pool", "A Visitor", "Night Crossing", "The Mill")
    book = plain(*(f"{name}\n\n{prose(50 + at)}\n\n\n\n* * *" for at, name in enumerate(names)))
    assert titles(book) == [*names]


@pytest.mark.parametrize(
    "form", ["* * *\n\n{}\n\n* * *", "❦\n\n{}\n\n❦", "~\n\n{}\n\n~", "----\n{}\n----", "* * *\n{}\n* * *"]
)
def test_titles_between_lines_of_signs_even_among_scenes_that_these_divide(form: str) -> None:
    names = ("The Pool", "A Visitor", "Night Crossing", "The Mill")
    for scenes in ("\n\n* * *\n\n", "\n\n"):
        parts = (f"{form.format(name)}\n\n{prose(50 + at)}{scenes}{prose(70 + at)}" for at, name in enumerate(names))
        assert titles(check(read_plain("\n\n".join(["THE WEIR", "by Ann Author", *parts])))) == [*names]


def test_a_line_between_two_scenes_is_no_title() -> None:
    names = ("The Pool", "A Visitor", "Night Crossing", "The Mill")
    scene = f"\n\n* * *\n\nNobody Came\n\n* * *\n\n{prose(7)}"
    parts = (f"{name}\n\n{prose(50 + at)}{scene * (at % 2)}" for at, name in enumerate(names))
    assert titles(plain(*parts)) == [*names]


@pytest.mark.parametrize(
    "headings",
    [
        ("第一章", "第二章", "第三章", "第四章"),
        ("一", "二", "三", "四"),
        ("１", "２", "３", "４"),
        ("卷一", "卷二", "卷三", "卷四"),
    ],
)
def test_numbers_of_east_asian_books_with_the_prose_in_the_next_line(headings: tuple[str, ...]) -> None:
    text = "\n\n".join(f"{heading}\n　{'夜の海は静かだった。' * 90}" for heading in headings)
    assert len(check(read_plain(text)).chapters) == len(headings)


def test_a_paragraph_that_ends_with_a_german_quotation_mark_is_whole() -> None:
    parts = (f"{number}.\n\n{paragraph(number)}\n\n»Das weiß ich nicht {number}.«" for number in range(1, 6))
    assert printed(check(read_plain("\n\n\n".join(parts)))) == ["1", "2", "3", "4", "5"]


def test_a_sentence_that_announces_the_chapter_is_its_title() -> None:
    announced = ("In which a cart is missed", "Of what the keeper wrote", "How the letter came", "Which treats of rain")
    book = plain(*(f"CHAPTER {_ROMAN[at]}\n\n{said}" for at, said in enumerate(announced)), gap=2)
    assert titles(book) == [f"Chapter {_ROMAN[at]}. {said}" for at, said in enumerate(announced)]


def test_a_misspelt_label_is_shown_as_it_was_meant() -> None:
    assert titles(plain("CHAPTER I", "CHAPER II", "CHAPTER III"))[1] == "Chapter II"


def test_page_numbers_between_paragraphs_are_no_chapters() -> None:
    names, page, parts = ("THE LAMP", "THE CART", "THE EBB TIDE", "THE LETTER"), 0, []
    for at, name in enumerate(names):
        parts.append(f"\n\n\n\n{name}\n\n\n")
        for number in range(6):
            page += 1
            parts.append(f"{paragraph(10 * at + number)}\n\n{page}\n\n")
    assert titles(check(read_plain("".join(parts)))) == ["The Lamp", "The Cart", "The Ebb Tide", "The Letter"]


def test_a_speaker_whom_the_list_of_persons_names_is_no_scene() -> None:
    scenes = [
        f"SCENE {numeral}. {place}." for numeral, place in zip(_ROMAN, ("A hall", "A street", "The sea"), strict=False)
    ]
    front = "A PLAY\n\nContents\n\nACT I\n" + "\n".join(scenes) + "\n\nPersons\n\nQUEEN, a queen\nKEEPER\n\n\n"
    talk = "\n\n".join(f"{speaker}:\n\n{paragraph(at)}" for at, speaker in enumerate(("QUEEN", "KEEPER") * 5))
    book = check(read_plain(front + "ACT I\n\n\n" + "\n\n\n".join(f"{scene}\n\n{talk}" for scene in scenes)))
    assert printed(book) == ["I", "II", "III"]


def test_a_half_title_inside_the_book_is_not_the_title_of_what_follows() -> None:
    parts = [
        "Faust: A Play\n\nby Ann Author",
        "The Rain\n\n" + prose(1),
        "The Stage\n\n" + prose(10),
        "Faust: A Play\n\nNight\n\n" + prose(20),
    ]
    book = check(read_plain("\n\n\n\n\n".join([*parts, "The Gate\n\n" + prose(30)])))
    assert [title for title in titles(book) if title != "Faust: A Play"] == [
        "The Rain",
        "The Stage",
        "Night",
        "The Gate",
    ]


def test_the_dedication_of_a_part_is_not_the_parts_title() -> None:
    book = plain(
        "PART I.\n\n\nCHAPTER I", "CHAPTER II", "PART II.\n\n\nDEDICATION OF PART II.", "CHAPTER I", "CHAPTER II"
    )
    assert "Part II" in [chapter.title for chapter in book.chapters]
    assert "Dedication of Part II" in [chapter.title for chapter in book.chapters]


def test_a_title_in_italics_below_a_label() -> None:
    book = plain("_Chapter 1_\n\n_The Lamp_", "_Chapter 2_\n\n_The Cart_", gap=2)
    assert titles(book) == ["Chapter 1. The Lamp", "Chapter 2. The Cart"]


@pytest.mark.parametrize(
    ("label", "names", "told"),
    [
        ("CHAPTER {}.", ("The Weighhouse.", "A Toll of Ashes.", "Under the Lime Trees."), prose(1)),
        ("第{}章", ("暴风", "静屋", "来客"), "那一年的冬天特别冷，" * 5),
        ("अध्याय {}", ("तूफ़ान", "शांत घर", "राख"), "नदी गाँव के पास से बहती थी और किसी को नहीं पता था। " * 4),
    ],
)
def test_a_title_below_a_label_in_the_way_of_its_country(label: str, names: tuple[str, ...], told: str) -> None:
    chapters = (f"{label.format(at)}\n\n{name}\n\n{told}\n\n{told}" for at, name in enumerate(names, 1))
    book = check(read_plain("\n\n\n\n".join(chapters)))
    assert [title.partition(". ")[2] for title in titles(book)] == [name.rstrip(".") for name in names]


@pytest.mark.parametrize("direction", ["Enter Karl and Nell.", "_Enter Nell._", "Karl. Nell."])
def test_a_direction_below_a_scene_is_no_title(direction: str) -> None:
    scenes = (f"Scene {at}\n\n{direction}\n\n{prose(at)}" for at in (1, 2, 3, 4))
    assert titles(check(read_plain("\n\n\n\n".join(scenes)))) == [f"Scene {at}" for at in (1, 2, 3, 4)]


def test_a_scenes_place_in_a_screenplay_is_no_title_of_the_act() -> None:
    acts = (f"Act {at}\n\nINT. MILL - NIGHT\n\n{prose(at)}\n\nEXT. WEIR - DAY\n\n{prose(9 * at)}" for at in (1, 2, 3))
    assert titles(check(read_plain("\n\n\n\n".join(acts)))) == ["Act 1", "Act 2", "Act 3"]


def verses(chapter: int) -> str:
    return "\n\n".join(f"{chapter}:{verse} {paragraph(verse, 1)}" for verse in range(1, 20))


def test_books_of_scripture_hold_chapters_and_verses_are_none() -> None:
    books = ("The Book of Salt", "The Book of Ebb", "The Book of Ann")
    chapters = [f"Chapter {number}\n\n{verses(number)}" for number in (1, 2, 3)]
    labelled = check(read_plain("\n\n\n".join("\n\n".join([book, *chapters]) for book in books)))
    inner = ["  Chapter 1", "  Chapter 2", "  Chapter 3"]
    assert titles(labelled) == [line for book in books for line in (book, *inner)]
    bare = check(read_plain("\n\n\n\n".join(f"{book}\n\n\n{verses(1)}\n\n{verses(2)}" for book in books)))
    assert titles(bare) == [line for book in books for line in (book, *inner[:2])]


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("[{1}:{2}]", ["The First Book of the Coast: Called Crossing", "Ebb", "The Song of the Ferry"]),
        ("{1:03}:{2:03}", ["Salt", "Ebb", "Ann"]),
        ("{0} {1}:{2}", ["1 Salt", "2 Salt", "Song of Songs"]),
    ],
)
def test_scripture_is_divided_by_the_numbers_of_its_verses(form: str, names: list[str]) -> None:
    numbers = [(chapter, verse) for chapter in (1, 2, 3) for verse in range(1, 9)]
    lines = {name: [f"{form.format(name, *each)} {paragraph(each[1], 2)}" for each in numbers] for name in names}
    heads = ["" if "{0}" in form else f"{name}\n\n\n" for name in names]
    text = "\n\n\n".join(head + "\n".join(lines[name]) for head, name in zip(heads, names, strict=True))
    inner = ["  Chapter 1", "  Chapter 2", "  Chapter 3"]
    assert titles(check(read_plain(text))) == [line for name in names for line in (name, *inner)]


def test_parts_hold_books_where_parts_open_with_them() -> None:
    chapters = "\n\n".join(f"CHAPTER {number}\n\n{prose(at)}" for at, number in enumerate(("I", "II")))
    books = "\n\n".join(f"BOOK {number}\n\n{chapters}" for number in ("I", "II"))
    inner = ["  Book I", "    Chapter I", "    Chapter II", "  Book II", "    Chapter I", "    Chapter II"]
    book = check(read_plain(f"PART ONE\n\n{books}\n\nPART TWO\n\n{books}"))
    assert titles(book) == ["Part One", *inner, "Part Two", *inner]


def test_a_manual_is_divided_by_its_whole_numbers_and_a_serial_by_its_decimal_ones() -> None:
    names = ("Installation", "Use", "Repair")
    sections = [f"{number}.{inner} Things\n\n{prose(inner)}" for number in (1, 2, 3) for inner in (1, 2)]
    manual = [f"{at} {name}\n\n{sections[2 * at - 2]}\n\n{sections[2 * at - 1]}" for at, name in enumerate(names, 1)]
    book = check(read_plain("\n\n".join(manual)))
    assert titles(book) == ["1 Installation", "2 Use", "3 Repair"]
    assert check(read_plain("0. Nothing at all")).chapters == ()
    assert printed(book) == ["1", "2", "3"]
    serial = plain("1.1", "1.2", "1.3", "Interlude 1", "2.1", "2.2", "2.3", "Interlude 2")
    assert printed(serial) == ["1.1", "1.2", "1.3", "", "2.1", "2.2", "2.3", ""]


MANUAL = ("Setup", "Tools", "Repair")


@pytest.mark.parametrize(
    "names", [("{}.1. Aims", "{}.2. mc", "{}.2.1. Keys", "{}.2.1.1. F10"), ("{}.1 Aims", "{}.1.1 Means", "{}.10 git")]
)
@pytest.mark.parametrize("label", ["Chapter {}. {}", "{}. {}", "{} {}"])
def test_sections_of_a_manual_are_no_chapters_however_deep_and_whatever_their_names(
    label: str, names: tuple[str, ...]
) -> None:
    parts = {
        f"{number}.xhtml": f"<h1>{label.format(number, title)}</h1><p>{paragraph(number)}</p>"
        + "".join(f"<h1>{name.format(number)}</h1><p>{paragraph(30 + number)}</p>" for name in names)
        for number, title in enumerate(MANUAL, start=1)
    }
    parts["appendix.xhtml"] = "<h1>Appendix A. Notes</h1>" + "".join(
        f"<h1>A.{number} Notes</h1><p>{paragraph(60 + number)}</p>" for number in (1, 2)
    )
    book = check(read_book(epub(parts), "manual.epub"))
    chapters = [label.format(number, title) for number, title in enumerate(MANUAL, start=1)]
    assert titles(book) == [*chapters, "Appendix A. Notes"]


@pytest.mark.parametrize(
    ("chapter", "contents", "appendix"),
    [
        ("Chapter {}.", "Table of Contents", "Appendix {}."),
        ("Kapitel {}.", "Inhaltsverzeichnis", "Anhang {}."),
        ("Chapitre {}.", "Table des matières", "Annexe {}."),
        ("Capítulo {}.", "Índice", "Apéndice {}."),
        ("Capitolo {}.", "Indice", "Appendice {}."),
        ("Kapittel {}.", "Innhold", "Vedlegg {}."),
        ("Kapitola {}.", "Obsah", "Příloha {}."),
        ("Chương {}.", "Mục lục", "Phụ lục {}."),
        ("Глава {}.", "Содержание", "Приложение {}."),
        ("Κεφάλαιο {}.", "Περιεχόμενα", "Παράρτημα {}."),
        ("第 {} 章", "目录", "附录 {}."),
        ("第{}章", "目次", "付録{}"),
    ],
)
def test_a_manual_whose_chapters_open_with_their_own_contents(chapter: str, contents: str, appendix: str) -> None:
    def part(label: str, number: str, name: str) -> str:
        sections = [f"{number}.{at}. {name} {at}" for at in (1, 2)]
        told = "\n\n".join(f"{section}\n\n{prose(at)}" for at, section in enumerate(sections))
        return f"{label.format(number)} {name}\n\n{contents}\n\n" + "\n".join(sections) + f"\n\n{told}"

    parts = [part(chapter, str(at), name) for at, name in enumerate(MANUAL, start=1)]
    parts += [part(appendix, letter, "Notes") for letter in "AB"]
    book = check(read_plain("\n\n".join(parts)))
    assert [each.title.split()[-1] for each in book.chapters] == [*MANUAL, "Notes", "Notes"]
    assert printed(book) == ["1", "2", "3", "", ""]


def test_lines_of_a_printed_table_with_dots_are_no_chapters() -> None:
    lines = ["<h2>1 Setup . . . . . . . . . 9</h2>", "<h2>2 Tools . . 18</h2>", "<h2>3 Repair 27</h2>"]
    chapters = [f"<h2>{at} {name}</h2><p>{paragraph(at)}</p>" for at, name in enumerate(MANUAL, start=1)]
    book = check(read_book(epub({"a.xhtml": "<p>Text</p>".join(lines), "b.xhtml": "".join(chapters)}), "a.epub"))
    assert titles(book) == ["1 Setup", "2 Tools", "3 Repair"]


def test_a_chapter_begins_with_the_label_above_the_title_that_the_contents_name() -> None:
    parts = {
        f"{at}.xhtml": f"<p>{paragraph(9 * at)}</p><p>Chapter {at}</p><p id='t'>{name}</p><p>{paragraph(at)}</p>"
        for at, name in enumerate(MANUAL, start=1)
    }
    contents = nav(*(Line(name, f"{at}.xhtml#t") for at, name in enumerate(MANUAL, start=1)))
    book = check(read_book(epub(parts, nav=contents), "a.epub"))
    assert titles(book) == [f"Chapter {at}. {name}" for at, name in enumerate(MANUAL, start=1)]
    assert all(book.text[each.start :].startswith(f"Chapter {each.number}") for each in book.chapters)


def test_parts_whose_contents_have_only_their_numbers_hold_chapters() -> None:
    def part(number: str, name: str) -> str:
        chapters = "".join(f"<h2>{each}</h2><p>{paragraph(at)}</p>" for at, each in enumerate(MANUAL))
        return f"<p>Part {number}</p><h1>{number} {name}</h1><p>{paragraph(9)}</p>{chapters}"

    book = check(read_book(epub({"a.xhtml": part("I", "Knots"), "b.xhtml": part("II", "Boats")}), "a.epub"))
    inner = [f"  {name}" for name in MANUAL]
    assert titles(book) == ["Part I. Knots", *inner, "Part II. Boats", *inner]


def test_a_part_holds_its_stories_though_their_list_stands_between() -> None:
    stories = "".join(f"<h2>{name} Story</h2><p>{paragraph(at)}</p>" for at, name in enumerate(("First", "Second")))
    contents = "<h1>Contents</h1><p>First Story</p><p>Second Story</p>"
    parts = {"a.xhtml": f"<h1>Book One</h1>{contents}{stories}", "b.xhtml": f"<h1>Book Two</h1>{stories}"}
    inner = ["  First Story", "  Second Story"]
    assert titles(check(read_book(epub(parts), "a.epub"))) == ["Book One", *inner, "Book Two", *inner]


@pytest.mark.parametrize("kind", ["h2", "p"])
def test_chapters_are_found_where_the_contents_name_only_the_parts(kind: str) -> None:
    parts = {
        f"part{at}.xhtml": f"<p>Part {part}</p>"
        + "".join(f"<{kind}>Chapter {number}</{kind}><p>{paragraph(10 * at + number)}</p>" for number in range(1, 5))
        for at, part in enumerate(("One", "Two", "Three"), start=1)
    }
    lines = [Line("Section 1", "title.xhtml"), *(Line(f"Part {n}", f"part{n}.xhtml") for n in (1, 2, 3))]
    book = check(read_book(epub({"title.xhtml": "<p>A House of Clay</p>", **parts}, nav=nav(*lines)), "a.epub"))
    assert printed(book)[-12:] == ["1", "2", "3", "4"] * 3


def test_the_letters_of_an_index_are_no_chapters() -> None:
    chapters = "".join(
        f"<h1>{at} {name}</h1><p>{prose(at)}</p>" for at, name in enumerate(("Knots", "Ropes", "Bends"), 1)
    )
    index = "".join(f"<h2>{letter}</h2><p>{letter}nchors, 3<br>{letter}shes, 17</p>" for letter in "ABCDFGIM")
    book = check(read_book(f"{chapters}<h1>Index</h1>{index}".encode(), "a.html"))
    assert titles(book) == ["1 Knots", "2 Ropes", "3 Bends"]


def test_a_book_whose_chapters_are_letters_keeps_them() -> None:
    page = "".join(f"<h2>{letter}</h2><p>{prose(at)}</p>" for at, letter in enumerate("ABCDEFG"))
    assert len(check(read_book(page.encode(), "a.html")).chapters) == 7


@pytest.mark.parametrize("title", ["Introduction", "Conclusion", "The Ford"])
def test_a_label_above_a_title_of_any_name_gives_its_number(title: str) -> None:
    names = (title, "The Weir", "The Mouth")
    page = "".join(f"<p>Chapter {at}</p><h2>{name}</h2><p>{prose(at)}</p>" for at, name in enumerate(names, 1))
    assert titles(check(read_book(page.encode(), "a.html"))) == [
        f"Chapter {at}. {name}" for at, name in enumerate(names, 1)
    ]


def test_an_appendix_begins_with_the_label_above_its_title() -> None:
    page = "".join(f"<h2>{at} {name}</h2><p>{prose(at)}</p>" for at, name in enumerate(MANUAL, 1))
    page += f"<p>Appendix A</p><h2>Knots</h2><p>{prose(8)}</p><p>Anhang B</p><h2>Anhang</h2><p>{prose(9)}</p>"
    assert titles(check(read_book(page.encode(), "a.html")))[-2:] == ["Appendix A. Knots", "Anhang B. Anhang"]


@pytest.mark.parametrize("parts", [("Part I. Lower", "Part II. Upper"), ("", "")])
@pytest.mark.parametrize("word", ["", "Chapter "])
def test_numbered_sections_of_a_preface_are_no_chapters(parts: tuple[str, str], word: str) -> None:
    preface = "".join(f"<h3>{at}. {name}</h3><p>{prose(at)}</p>" for at, name in enumerate(MANUAL[:2], 1))
    heads = [f"{word}{at}. {name}" for at, name in enumerate([*MANUAL, *MANUAL], 1)]
    level = 3 if parts[0] else 2
    told = [f"<h{level}>{head}</h{level}><p>{prose(at)}</p>" for at, head in enumerate(heads)]
    halves = zip(parts, (told[: len(MANUAL)], told[len(MANUAL) :]), strict=True)
    page = "".join(f"<h2>{part}</h2>{''.join(half)}" if part else "".join(half) for part, half in halves)
    book = check(read_book(f"<h1>A Manual</h1><h2>Foreword</h2>{preface}{page}".encode(), "a.html"))
    found = [title.strip() for title in titles(book)]
    assert found == ["Foreword", *filter(None, [parts[0], *heads[: len(MANUAL)], parts[1], *heads[len(MANUAL) :]])]


@pytest.mark.parametrize("name", ["Notes", "References"])
def test_notes_that_close_several_chapters_are_none(name: str) -> None:
    told = [f"Chapter {at}\n\n{prose(at)}\n\n{name}:\n\n  o  {paragraph(at)}" for at in (1, 2, 3)]
    assert titles(check(read_plain("\n\n".join(told)))) == ["Chapter 1", "Chapter 2", "Chapter 3"]
    page = "".join(f"<h2>Chapter {at}</h2><p>{prose(at)}</p><h2>{name}</h2><p>{prose(9)}</p>" for at in (1, 2, 3))
    assert titles(check(read_book(page.encode(), "a.html"))) == ["Chapter 1", "Chapter 2", "Chapter 3"]


def test_a_pile_of_headings_is_no_table_of_contents() -> None:
    page = "".join(f"<h2>{at} o</h2>x" for at in range(50_001))
    assert not check(read_book(page.encode(), "a.html")).chapters


def test_letters_of_appendices_and_a_first_person_are_no_numbers_of_chapters() -> None:
    names = [*(f"{at} {name}" for at, name in enumerate(MANUAL, 1)), "A Knots", "B Ropes", "C Index of Names"]
    page = "".join(f"<h2>{name}</h2><p>{prose(at)}</p>" for at, name in enumerate(names))
    numbers = [str(at) for at, _ in enumerate(MANUAL, 1)]
    assert printed(check(read_book(page.encode(), "a.html"))) == [*numbers, "", "", ""]
    page = "".join(f"<h2>{name}</h2><p>{prose(at)}</p>" for at, name in enumerate(["I Remember", *names]))
    assert printed(check(read_book(page.encode(), "a.html"))) == ["", *numbers, "", "", ""]


def test_an_introduction_is_no_title_of_the_part_it_opens() -> None:
    page = "<p>Part One</p><h2>Introduction</h2>" + "".join(
        f"<p>{prose(at)}</p><h2>{name}</h2>" for at, name in enumerate(("The Ford", "The Weir"))
    )
    assert printed(check(read_book(f"{page}<p>{prose(9)}</p>".encode(), "a.html")))[0] == ""


@pytest.mark.parametrize("name", ["Index", "The Cover", "Notes", "A Letter", "Illustrations"])
def test_a_chapter_between_others_may_be_called_as_matter_is(name: str) -> None:
    names = ("The Ford", name, "The Mouth")
    page = "".join(f"<h2>{each}</h2><p>{prose(9 * at, 9)}</p>" for at, each in enumerate(names))
    assert titles(check(read_book(page.replace("\n\n", "</p><p>").encode(), "a.html"))) == list(names)
    told = "\n\n\n\n".join(f"{each.upper()}\n\n{prose(9 * at, 9)}" for at, each in enumerate(names))
    assert [title.casefold() for title in titles(check(read_plain(told)))] == [each.casefold() for each in names]


@pytest.mark.parametrize(
    "entry", ["Anchors, 3, 17, 44", "The lamp of the keeper, which he trimmed every night . . . 17"]
)
def test_an_index_between_chapters_is_none(entry: str) -> None:
    names = ("The Ford", "Index", "The Mouth")
    bodies = (prose(1, 9), "\n\n".join([entry] * 90), prose(3, 9))
    page = "".join(f"<h2>{name}</h2><p>{body}</p>" for name, body in zip(names, bodies, strict=True))
    assert "Index" not in titles(check(read_book(page.replace("\n\n", "</p><p>").encode(), "a.html")))


@pytest.mark.parametrize("name", ["The End", "Fin", "Ende"])
def test_the_last_chapter_may_be_called_the_end(name: str) -> None:
    names = ("The Ford", "The Weir", "The Reed", "The Bell", "The Ferry", "The Mouth", name)
    page = "".join(f"<h2>{each}</h2><p>{prose(9 * at, 9)}</p>" for at, each in enumerate(names))
    assert titles(check(read_book(page.replace("\n\n", "</p><p>").encode(), "a.html"))) == list(names)
    told = "\n\n\n\n".join(f"{each}\n\n{prose(9 * at, 9)}" for at, each in enumerate(names))
    assert titles(check(read_plain(told))) == list(names)


@pytest.mark.parametrize("form", ["{}", "Chapter {}", "Chapter {}: Under the Weir"])
def test_the_end_behind_the_last_chapter_is_none(form: str) -> None:
    told = "\n\n\n\n".join(f"{form.format(number)}\n\n{prose(9 * number, 9)}" for number in range(1, 5))
    book = check(read_plain(f"{told}\n\n\n\nTHE END\n\n\n\n{prose(70, 9)}"))
    assert "The End" not in titles(book)
    assert printed(book) == ["1", "2", "3", "4"]


def test_the_day_of_a_date_is_no_number_of_a_chapter() -> None:
    days = ("6. Mai 1915", "7. Mai 1915", "12. Juni 1915")
    book = check(
        read_book(epub({f"{at}.xhtml": f"<h2>{day}</h2><p>{prose(at)}</p>" for at, day in enumerate(days)}), "a.epub")
    )
    assert (titles(book), printed(book)) == ([*days], ["", "", ""])


def test_a_part_in_a_smaller_type_than_the_first_is_no_part_of_it() -> None:
    marks = ("h1", "Part One"), ("h3", "Chapter 1"), ("h3", "Chapter 2"), ("h2", "Part Two"), ("h3", "Chapter 3")
    told = [f"<{mark}>{title}</{mark}><p>{prose(10 * at)}</p>" for at, (mark, title) in enumerate(marks)]
    book = check(read_book("".join(told).encode(), "parts.html"))
    assert [(each.title, each.level, each.parent) for each in book.chapters] == [
        ("Part One", 1, ""),
        ("Chapter 1", 2, "Part One"),
        ("Chapter 2", 2, "Part One"),
        ("Part Two", 1, ""),
        ("Chapter 3", 2, "Part Two"),
    ]


@pytest.mark.parametrize(
    "announced",
    [
        "Turn the page for an exciting preview of\n\nTHE IRON GATE\n\nthe next novel by Edith Marlowe",
        "Keep reading for an excerpt from THE IRON GATE",
        "An Excerpt from The Iron Gate",
        "SNEAK PEEK",
        "Leseprobe\n\naus\n\nDAS EISERNE TOR",
        "Découvrez un extrait de\n\nLA PORTE DE FER",
    ],
)
def test_the_preview_of_another_book_has_no_chapters_of_this_one(announced: str) -> None:
    book = plain(*(f"Chapter {number}" for number in range(1, 6)), f"{announced}\n\n\n\nChapter 1", "Chapter 2")
    assert printed(book) == ["1", "2", "3", "4", "5"]
    assert announced.partition("\n")[0] not in book.text[: book.chapters[-1].end]


def test_an_excerpt_between_the_chapters_of_a_book_is_a_part_of_it() -> None:
    headings = [*(f"Chapter {number}" for number in range(1, 5)), "An Extract from the Captain's Journal", "Chapter 5"]
    assert printed(plain(*headings))[-1] == "5"


def test_an_excerpt_may_open_a_part_whose_chapters_count_from_one() -> None:
    motto = "An excerpt from the log of the Star"
    parts = [
        "PART ONE\n\nChapter 1",
        "Chapter 2",
        "Chapter 3",
        "Chapter 4",
        f"PART TWO\n\n{motto}\n\nChapter 1",
        "Chapter 2",
    ]
    assert printed(plain(*parts)) == ["1", "2", "3", "4", "1", "2"]


@pytest.mark.parametrize("contents", ["", "CONTENTS\n\nThe Salt Road\n\nThe Iron Tide\n\nThe Quiet Crown"])
def test_the_novels_of_a_trilogy_hold_chapters_with_bare_numbers(contents: str) -> None:
    novels = [
        f"{title}\n\n\n\n"
        + "\n\n\n\n".join(f"{number}\n\n{prose(90 * at + 20 * number, 20)}" for number in (1, 2, 3, 4))
        for at, title in enumerate(("THE SALT ROAD", "THE IRON TIDE", "THE QUIET CROWN"))
    ]
    book = check(read_plain("\n\n\n\n".join(filter(None, [contents, *novels]))))
    assert [(each.parent, each.printed) for each in leaves(book)] == [
        (title, number) for title in ("The Salt Road", "The Iron Tide", "The Quiet Crown") for number in "1234"
    ]


def test_the_sections_of_short_stories_are_no_chapters() -> None:
    stories = ("THE SALT ROAD", "THE IRON TIDE", "THE QUIET CROWN", "THE LONG WALK")
    told = [f"{title}\n\n\n\n" + "\n\n".join(f"{n}\n\n{prose(10 * n)}" for n in (1, 2, 3)) for title in stories]
    assert [each.title.upper() for each in check(read_plain("\n\n\n\n".join(told))).chapters] == [*stories]


@pytest.mark.parametrize("line", ["1:1 In the beginning was the ferry.", "9:15 The bell rang for the ferry."])
def test_a_few_verses_or_times_of_the_day_divide_no_novel(line: str) -> None:
    book = plain(*(f"Chapter {number}\n\n{line}\n\n{line.replace(':1', ':2')}" for number in (1, 2, 3, 4, 5)))
    assert printed(book) == [*"12345"]


LAWS = {
    "titles": ("TITLE {}\n\nGENERAL PROVISIONS", "Article {}"),
    "French titles": ("TITRE {}\nDES PERSONNES", "Article {}"),
    "sections": ("Abschnitt {}\nAllgemeines", "§ {}"),
    "chapters": ("CHAPTER {}\nGENERAL PROVISIONS", "Article {}\nScope"),
}


@pytest.mark.parametrize("gap", [1, 3])
@pytest.mark.parametrize("law", LAWS)
def test_articles_of_a_law_count_on_through_its_titles(law: str, gap: int) -> None:
    division, article = LAWS[law]
    headings = [article.format(number) for number in range(1, 13)]
    for at in (0, 4, 8):
        headings[at] = f"{division.format(_ROMAN[at // 4])}\n\n{headings[at]}"
    assert printed(plain(*headings, gap=gap)) == [str(number) for number in range(1, 13)]


def test_an_article_that_prose_speaks_of_is_no_chapter() -> None:
    treaty = "Article {}\n\nof the treaty was the one that mattered, he said, and he read it aloud."
    told = [f"CHAPTER {_ROMAN[n]}\n\n{prose(9 * n)}\n\n{treaty.format(n + 1)}\n\n{prose(9 * n + 5)}" for n in range(3)]
    assert printed(check(read_plain("\n\n\n\n".join(told)))) == ["I", "II", "III"]


QUOTED = {
    "English": (
        "The Letter",
        "“Not Without My Hat”",
        "A Cold Supper",
        "“Who Goes There?”",
        "The Ferry",
        "“Yes,” She Said",
    ),
    "German": ("Ein Brief", "„Der gute Kamerad“", "Im Nebel", "„Wer da?“", "Die Fähre", "»Nach Hause!«"),
    "French": ("Une lettre", "« Qui vive ? »", "Le brouillard", "« À la maison ! »", "Le bac", "Le retour"),
    "capitals": ("THE LETTER", "“NOT WITHOUT MY HAT”", "A COLD SUPPER", "“WHO GOES THERE?”", "THE FERRY", "HOME"),
}


@pytest.mark.parametrize("contents", [False, True])
@pytest.mark.parametrize("book", QUOTED)
def test_titles_may_be_in_quotation_marks(book: str, contents: bool) -> None:
    listed = "\n".join(["CONTENTS\n", *QUOTED[book]]) if contents else ""
    found = [title.casefold() for title in titles(plain(*QUOTED[book], contents=listed))]
    assert found == [title.casefold() for title in QUOTED[book]]


def test_speech_at_the_head_of_chapters_is_no_title() -> None:
    names = ("The Harbour", "A Stranger", "The Quarrel", "Night", "The Ferry")
    assert titles(plain(*(f"{name}\n\n“Is it you?”" for name in names))) == [*names]
    numbers = [f"CHAPTER {number}\n\n“Is it you?”" for number in ("I", "II", "III", "IV", "V")]
    assert titles(plain(*numbers)) == ["Chapter I", "Chapter II", "Chapter III", "Chapter IV", "Chapter V"]


def test_a_title_under_a_label_may_be_a_quotation_where_most_labels_have_titles() -> None:
    called = ("The Letter", "“Who Goes There?”", "A Cold Supper", "The Ferry", "“Home!”")
    book = plain(*(f"CHAPTER {number}\n\n{title}" for number, title in zip(_ROMAN, called, strict=False)))
    assert titles(book) == [f"Chapter {number}. {title}" for number, title in zip(_ROMAN, called, strict=False)]


TITLES_BELOW = {
    "Italian": ("CAPITOLO {}", "Il porto", "La lettera di Maria", "Il ritorno a casa", "Nessuno lo sapeva allora."),
    "French": ("Chapitre {}", "Le port", "Le vieux pont", "Le retour", "Personne ne le savait encore."),
    "Spanish": ("CAPÍTULO {}", "El puerto", "El puente viejo", "La vuelta a casa", "Nadie lo sabía todavía."),
    "Hungarian": ("{}. fejezet", "A kikötő", "A régi híd", "Haza", "Akkor még senki sem tudta ezt."),
    "Arabic": ("الفصل {}", "الميناء", "الجسر القديم", "العودة", "لم يكن أحد يعرف ذلك في تلك الأيام."),
    "Hebrew": ("פרק {}", "הנמל", "הגשר הישן", "הביתה", "איש לא ידע על כך בימים ההם."),
    "Japanese": ("第{}章", "港", "古い橋", "帰郷", "そのことは誰も知らなかった。"),
}


@pytest.mark.parametrize("language", TITLES_BELOW)
def test_a_title_below_its_label_may_be_above_a_short_sentence(language: str) -> None:
    label, *called, sentence = TITLES_BELOW[language]
    book = plain(*(f"{label.format(number)}\n\n{title}\n\n{sentence}" for number, title in enumerate(called, start=1)))
    assert all(title in found for title, found in zip(called, titles(book), strict=True)), titles(book)


def test_a_short_sentence_below_a_label_is_no_title() -> None:
    told = ("It rained that day.", "Nobody came at all.", "He waited for the ebb.", "The door opened again.")
    book = plain(*(f"Chapter {number}\n\n{sentence}" for number, sentence in enumerate(told, start=1)))
    assert titles(book) == ["Chapter 1", "Chapter 2", "Chapter 3", "Chapter 4"]


@pytest.mark.parametrize("form", ["::{}::", "~ {} ~", "- {} -", "† {} †", "〜{}〜", "...{}...", "❦ {} ❦", "<< {} >>"])
def test_numbers_may_have_any_ornaments(form: str) -> None:
    assert printed(plain(*(form.format(number) for number in range(1, 6)))) == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    "times",
    [
        ("9:15 a.m.", "9:40 a.m.", "11:05 a.m.", "12:30 p.m.", "2:00 p.m.", "11:59 p.m."),
        ("08:15", "09:40", "11:05", "12:30", "14:00", "23:59"),
        ("08.15 Uhr", "09.40 Uhr", "11.05 Uhr", "12.30 Uhr", "14 Uhr", "17.45 Uhr"),
        ("6 AM", "7 AM", "8 AM", "9 AM", "10 AM", "11 AM", "NOON"),
    ],
)
def test_times_of_the_day_are_chapters(times: tuple[str, ...]) -> None:
    starts = [chapter.start for chapter in plain(*times).chapters]
    assert [plain(*times).text[start:].partition("\n")[0] for start in starts] == [*times]


def test_times_within_chapters_are_none() -> None:
    told = [f"CHAPTER {_ROMAN[n]}\n\n9:15 a.m.\n\n{prose(9 * n)}\n\n2:00 p.m.\n\n{prose(9 * n + 5)}" for n in range(4)]
    assert titles(check(read_plain("\n\n\n\n".join(told)))) == ["Chapter I", "Chapter II", "Chapter III", "Chapter IV"]
