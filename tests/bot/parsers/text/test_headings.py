"""Chapters of plain text, in the shapes that books on the net really have."""

from textwrap import fill

import pytest

from bot.parsers.headings import Heading, label_of, with_numbers
from bot.parsers.text.blocks import blocks_of
from bot.parsers.text.parser import read_plain
from tests.bot.parsers.invariants import check, titles
from tests.bot.parsers.prose import paragraph, prose


def book_of(*parts: str) -> str:
    """Parts of a book; `¶` stands for three paragraphs of prose."""
    filled = [part.replace("¶", f"\n\n{prose(10 * number)}\n\n") for number, part in enumerate(parts, start=1)]
    return "\n\n".join(filled)


SHAPES = {
    "chapters with titles in the line": (
        ["ALICE\n\n\n", "CHAPTER I. Down the Rabbit-Hole¶", "CHAPTER II. The Pool of Tears¶"],
        ["Chapter I. Down the Rabbit-Hole", "Chapter II. The Pool of Tears"],
    ),
    "title in the next line": (
        ["CHAPTER I.\nThe Period¶", "CHAPTER II.\nThe Mail¶", "CHAPTER III.\nThe Night Shadows¶"],
        ["Chapter I. The Period", "Chapter II. The Mail", "Chapter III. The Night Shadows"],
    ),
    "title under a blank line, in capitals": (
        ["STAVE ONE.\n\n\nMARLEY’S GHOST.¶", "STAVE TWO.\n\n\nTHE FIRST OF THE THREE SPIRITS.¶"],
        ["Stave One. Marley’s Ghost", "Stave Two. The First of the Three Spirits"],
    ),
    "a first sentence is no title": (
        ["Chapter 1\n\nCall me Ishmael.¶", "Chapter 2\n\nI stuffed a shirt or two.¶"],
        ["Chapter 1", "Chapter 2"],
    ),
    "books of chapters, and epilogues of chapters": (
        [
            "BOOK ONE: 1805\n\n\n\nCHAPTER I¶",
            "CHAPTER II¶",
            "BOOK TWO: 1805\n\n\n\nCHAPTER I¶",
            "FIRST EPILOGUE: 1813 - 20\n\n\n\nCHAPTER I¶",
            "CHAPTER II¶",
        ],
        [
            "Book One: 1805",
            "  Chapter I",
            "  Chapter II",
            "Book Two: 1805",
            "  Chapter I",
            "First Epilogue: 1813 - 20",
            "  Chapter I",
            "  Chapter II",
        ],
    ),
    "three levels": (
        [
            "VOLUME I—FANTINE\n\n\nPREFACE¶",
            "BOOK FIRST—A JUST MAN\n\n\nCHAPTER I—M. MYRIEL¶",
            "VOLUME II—COSETTE\n\n\nBOOK FIRST—WATERLOO\n\n\nCHAPTER I—THE EVENING¶",
        ],
        [
            "Volume I—Fantine",
            "  Preface",
            "  Book First—A Just Man",
            "    Chapter I—M. Myriel",
            "Volume II—Cosette",
            "  Book First—Waterloo",
            "    Chapter I—The Evening",
        ],
    ),
    "parts without titles, above chapters with numbers and a blank": (
        [
            "CONTENTS\n\nPART ONE\n1 The Harbour\n2 Salt\nPART TWO\n3 Low Water\n\n\nPART ONE\n\n1 The Harbour¶",
            "2 Salt¶",
            "PART TWO\n\n3 Low Water¶",
        ],
        ["Part One", "  1 The Harbour", "  2 Salt", "Part Two", "  3 Low Water"],
    ),
    "numbers with the ends of ordinals": (
        ["Ire PARTIE\n\n\nCHAPITRE Ier. L’auberge¶", "CHAPITRE II. La nuit¶", "2e partie\n\n\nCHAPITRE 1er¶"],
        ["Ire Partie", "  Chapitre Ier. L’auberge", "  Chapitre II. La nuit", "2e partie", "  Chapitre 1er"],
    ),
    "numbers in words of other languages, with titles in the line": (
        [
            "CZĘŚĆ PIERWSZA\n\n\nRozdział pierwszy. Port¶",
            "Rozdział drugi. List¶",
            "CZĘŚĆ DRUGA\n\n\nRozdział trzeci. Noc¶",
        ],
        [
            "Część Pierwsza",
            "  Rozdział pierwszy. Port",
            "  Rozdział drugi. List",
            "Część Druga",
            "  Rozdział trzeci. Noc",
        ],
    ),
    "numbers in words of Arabic": (
        ["الباب الأول\n\n\nالفصل الأول: الميناء¶", "الفصل الثاني: الرسالة¶", "الباب الثاني\n\n\nالفصل الثالث: الليل¶"],
        ["الباب الأول", "  الفصل الأول: الميناء", "  الفصل الثاني: الرسالة", "الباب الثاني", "  الفصل الثالث: الليل"],
    ),
    "numbers in words of Greek": (
        ["ΜΕΡΟΣ ΠΡΩΤΟ\n\n\nΚεφάλαιο πρώτο. Το λιμάνι¶", "ΜΕΡΟΣ ΔΕΥΤΕΡΟ\n\n\nΚεφάλαιο δεύτερο. Η νύχτα¶"],
        ["Μερος Πρωτο", "  Κεφάλαιο πρώτο. Το λιμάνι", "Μερος Δευτερο", "  Κεφάλαιο δεύτερο. Η νύχτα"],
    ),
    "ordinal numbers of Greek": (
        ["ΜΕΡΟΣ 1ο\n\n\nΚεφάλαιο 1ο¶", "Κεφάλαιο 2ο¶", "ΜΕΡΟΣ 2ο\n\n\nΚεφάλαιο 3ο¶"],
        ["ΜΕΡΟΣ 1ο", "  Κεφάλαιο 1ο", "  Κεφάλαιο 2ο", "ΜΕΡΟΣ 2ο", "  Κεφάλαιο 3ο"],
    ),
    "old spellings of German": (
        [
            "Erster Theil\n\n\nErstes Capitel. Der Hafen¶",
            "Zweites Capitel. Die Nacht¶",
            "Zweiter Theil\n\n\nDrittes Capitel¶",
        ],
        [
            "Erster Theil",
            "  Erstes Capitel. Der Hafen",
            "  Zweites Capitel. Die Nacht",
            "Zweiter Theil",
            "  Drittes Capitel",
        ],
    ),
    "titles of a law": (
        [
            "TITRE PREMIER\n\nDES BACS\n\n\nCHAPITRE PREMIER. Du passage¶",
            "TITRE II\n\nDES PONTS\n\n\nCHAPITRE III. Du péage¶",
        ],
        [
            "Titre Premier. Des Bacs",
            "  Chapitre Premier. Du passage",
            "Titre II. Des Ponts",
            "  Chapitre III. Du péage",
        ],
    ),
    "letters, then chapters": (
        ["Letter 1¶", "Letter 2¶", "Chapter 1¶", "Chapter 2¶"],
        ["Letter 1", "Letter 2", "Chapter 1", "Chapter 2"],
    ),
    "numerals alone": (["I¶", "II¶", "III¶"], ["Chapter I", "Chapter II", "Chapter III"]),
    "numerals with titles": (
        ["I.\n Introduction¶", "II.\n The Machine¶"],
        ["I. Introduction", "II. The Machine"],
    ),
    "parts with numbered chapters": (
        [
            "PART ONE\n\nThe Old Buccaneer\n\n\n\n1\n\nThe Sea-dog at the Inn¶",
            "2\n\nBlack Dog Appears¶",
            "PART TWO\n\nThe Sea Cook\n\n\n\n3\n\nAt the Sign of the Glass¶",
        ],
        [
            "Part One. The Old Buccaneer",
            "  1. The Sea-dog at the Inn",
            "  2. Black Dog Appears",
            "Part Two. The Sea Cook",
            "  3. At the Sign of the Glass",
        ],
    ),
    "a play": (
        ["ACT I\n\nSCENE I. A public place.¶", "SCENE II. A Street.¶", "ACT II\n\nSCENE I. An open place.¶"],
        ["Act I", "  Scene I. A public place", "  Scene II. A Street", "Act II", "  Scene I. An open place"],
    ),
    "numbers in words, and an epilogue": (
        ["Prologue¶", "Chapter One¶", "Chapter Twenty-Three¶", "Epilogue¶"],
        ["Prologue", "Chapter One", "Chapter Twenty-Three", "Epilogue"],
    ),
    "inner numerals of titled stories": (
        ["ADVENTURE I. A SCANDAL IN BOHEMIA\n\nI.¶", "II.¶", "ADVENTURE II. THE RED-HEADED LEAGUE¶"],
        ["Adventure I. A Scandal in Bohemia", "Adventure II. The Red-Headed League"],
    ),
    "tales whose titles are in capitals": (
        ["THE GOLDEN BIRD¶", "\nHANS IN LUCK¶", "\nJORINDA AND JORINDEL¶"],
        ["The Golden Bird", "Hans in Luck", "Jorinda and Jorindel"],
    ),
    "tales with no more space around titles than around paragraphs": (
        ["THE GOLDEN BIRD¶", "HANS IN LUCK¶", "THE FOUR BROTHERS¶"],
        ["The Golden Bird", "Hans in Luck", "The Four Brothers"],
    ),
    "parts with names, in each of which bare numbers begin again": (
        [
            "RIVER PARTS\n\nby Owen Slade\n\n\nPART ONE\n\nTHE FORD\n\n\n1¶",
            "2¶",
            "PART TWO\n\nTHE WEIR\n\n\n1¶",
            "2¶",
            "PART THREE\n\nTHE MOUTH\n\n\n1¶",
            "2¶",
        ],
        [
            "Part One. The Ford",
            "  Chapter 1",
            "  Chapter 2",
            "Part Two. The Weir",
            "  Chapter 1",
            "  Chapter 2",
            "Part Three. The Mouth",
            "  Chapter 1",
            "  Chapter 2",
        ],
    ),
    "poems, whose titles have as much space below as above": (
        ["POEMS\n\nby Owen Slade\n\n", "\nTo the River\n\n¶", "\nEvening\n\n¶", "\nA Dirge\n\n¶"],
        ["To the River", "Evening", "A Dirge"],
    ),
    "titles between ornaments": (
        ["*** The Ford ***¶", "*** The Weir ***¶", "*** The Mouth ***¶"],
        ["The Ford", "The Weir", "The Mouth"],
    ),
    "titles between dashes": (
        ["- The Ford -¶", "--- The Weir ---¶", "— The Mouth —¶"],
        ["The Ford", "The Weir", "The Mouth"],
    ),
    "each chapter on a new page": (
        ["RIVER PARTS\n\nby Owen Slade\n\f1. The Ford¶", "\f2. The Weir¶", "\f3. The Mouth¶"],
        ["1. The Ford", "2. The Weir", "3. The Mouth"],
    ),
    "two novels in one file": (
        [
            "THE FORD\n\nby Owen Slade\n\n\n\nCHAPTER I. THE INN¶",
            "CHAPTER II. THE WEIR¶",
            "THE MOUTH\n\nby Owen Slade\n\n\n\nCHAPTER I. RAIN¶",
            "CHAPTER II. EBB¶",
        ],
        [
            "The Ford",
            "  Chapter I. The Inn",
            "  Chapter II. The Weir",
            "The Mouth",
            "  Chapter I. Rain",
            "  Chapter II. Ebb",
        ],
    ),
    "one title in small letters among others": (
        ["CHAPTER I\n\nThe Ford¶", "CHAPTER II\n\nA secret comes out¶", "CHAPTER III\n\nThe Weir¶"],
        ["Chapter I. The Ford", "Chapter II. A secret comes out", "Chapter III. The Weir"],
    ),
    "Swedish, with its word in small letters": (
        ["Elfte kapitlet¶", "Tolfte kapitlet¶", "Tjugoförsta kapitlet¶"],
        ["Elfte kapitlet", "Tolfte kapitlet", "Tjugoförsta kapitlet"],
    ),
    "Hungarian, with its word in small letters": (
        ["Első fejezet¶", "Második fejezet¶", "Harmadik fejezet¶"],
        ["Első fejezet", "Második fejezet", "Harmadik fejezet"],
    ),
    "numbers in words that are not English": (
        ["Eins¶", "Zwei¶", "Drei¶", "Vier¶", "Fünf¶", "Sechs¶"],
        ["Eins", "Zwei", "Drei", "Vier", "Fünf", "Sechs"],
    ),
    "a number without a space": (["Chapter1¶", "Chapter2¶", "Chapter3¶"], ["Chapter 1", "Chapter 2", "Chapter 3"]),
    "a play in Latin terms": (
        ["Actus Primus. Scoena Prima.¶", "Scena Secunda.¶", "Actus Secundus. Scena Prima.¶"],
        ["Actus Primus. Scoena Prima", "Scena Secunda", "Actus Secundus. Scena Prima"],
    ),
    "days of stories": (
        [
            "THE FIRST DAY\n\n\n\nFIRST STORY¶",
            "SECOND STORY¶",
            "THE SECOND DAY\n\n\n\nFIRST STORY¶",
            "SECOND STORY¶",
            "THE THIRD DAY\n\n\n\nFIRST STORY¶",
        ],
        [
            "The First Day",
            "  First Story",
            "  Second Story",
            "The Second Day",
            "  First Story",
            "  Second Story",
            "The Third Day",
            "  First Story",
        ],
    ),
    "titles in italics below their labels": (
        ["CHAP. I.\n\n_Of Ideas._¶", "CHAP. II.\n\n_In which it rains._¶", "CHAP. III.\n\n_The ford in the fog._¶"],
        ["Chap. I. Of Ideas", "Chap. II. In which it rains", "Chap. III. The ford in the fog"],
    ),
    "stage directions in italics below scenes": (
        ["SCENE I\n\n_Enter Hamlet._¶", "SCENE II\n\n_Enter a Priest._¶", "SCENE III\n\n_Of a sudden, Rain._¶"],
        ["Scene I", "Scene II", "Scene III"],
    ),
    "a chapter between two others": (
        ["Chapter 1¶", "Chapter 2¶", "Chapter 2.5: Rain¶", "Chapter 3¶"],
        ["Chapter 1", "Chapter 2", "Chapter 2.5: Rain", "Chapter 3"],
    ),
    "labels in small letters": (
        ["prologue¶", "chapter one¶", "chapter two¶", "epilogue¶"],
        ["Prologue", "Chapter one", "Chapter two", "Epilogue"],
    ),
    "labels in spaced letters": (
        [
            "C H A P T E R   O N E\n\nThe Ferry¶",
            "C H A P T E R   T W O\n\nThe Toll¶",
            "C H A P T E R   III.\n\nThe Ebb¶",
        ],
        ["Chapter One. The Ferry", "Chapter Two. The Toll", "Chapter III. The Ebb"],
    ),
    "titles in small letters, in a language that writes them so": (
        ["Chapitre premier\n\nLa barque¶", "Chapitre deuxième\n\nLa pluie¶", "Chapitre troisième\n\nLes cloches¶"],
        ["Chapitre premier. La barque", "Chapitre deuxième. La pluie", "Chapitre troisième. Les cloches"],
    ),
    "titles in a script without capitals, under numbers nobody understands": (
        ["الفصل الأول\n\nالنهر¶", "الفصل الثاني\n\nالمطر¶", "الفصل الثالث\n\nالرسالة¶"],
        ["الفصل الأول. النهر", "الفصل الثاني. المطر", "الفصل الثالث. الرسالة"],
    ),
    "Hebrew, with letters that count": (
        ["פרק א'\n\nהנהר¶", "פרק ב'\n\nהגשם¶", "פרק ג'\n\nהמכתב¶"],
        ["פרק א'. הנהר", "פרק ב'. הגשם", "פרק ג'. המכתב"],
    ),
    "Japanese, with a prologue and an aside": (
        ["プロローグ¶", "第1話 渡し場¶", "閑話 猫の話¶", "第2話 夜の雨¶", "エピローグ¶"],
        ["プロローグ", "第1話 渡し場", "閑話 猫の話", "第2話 夜の雨", "エピローグ"],
    ),
    "Korean, with numbers in front of their word": (
        ["프롤로그¶", "1화. 나루터¶", "2화. 밤비¶", "에필로그¶"],
        ["프롤로그", "1화. 나루터", "2화. 밤비", "에필로그"],
    ),
    "Chinese, with extras at the end": (
        ["楔子¶", "第1章 渡口¶", "第2章 夜雨¶", "番外一 阿珍¶"],
        ["楔子", "第1章 渡口", "第2章 夜雨", "番外一 阿珍"],
    ),
    "Turkish": (
        ["BİRİNCİ BÖLÜM\n\nKıyı¶", "İKİNCİ BÖLÜM\n\nYağmur¶", "ÜÇÜNCÜ BÖLÜM\n\nMektup¶"],
        ["Birinci Bölüm. Kıyı", "İkinci Bölüm. Yağmur", "Üçüncü Bölüm. Mektup"],
    ),
    "German": (
        ["Erstes Kapitel\n\nVerhaftung¶", "Zweites Kapitel\n\nErste Untersuchung¶"],
        ["Erstes Kapitel. Verhaftung", "Zweites Kapitel. Erste Untersuchung"],
    ),
    "Chinese": (
        ["第一章 灵根育孕源流出¶", "第二章 悟彻菩提真妙理¶"],
        ["第一章 灵根育孕源流出", "第二章 悟彻菩提真妙理"],
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_chapters_are_found_in_every_shape(shape: str) -> None:
    parts, expected = SHAPES[shape]
    assert titles(check(read_plain(book_of(*parts)))) == expected


def test_numbered_lists_are_no_chapters() -> None:
    steps = "1. Sweep out the bilge.\n\n2. Tar every seam.\n\n3. Let it dry in the sun."
    told = f"1. Sweep it out\n\n{paragraph(1)}\n\n2. Tar it\n\n{paragraph(2)}\n\n3. Dry it\n\n{paragraph(3)}"
    for lines in (steps, told):
        recipes = [f"{title}¶{lines}¶" for title in ("THE INN", "THE FORD", "THE WEIR", "THE MOUTH")]
        assert titles(check(read_plain(book_of(*recipes)))) == ["The Inn", "The Ford", "The Weir", "The Mouth"]


@pytest.mark.parametrize(
    ("printed", "called"),
    [
        ("Chapter {number}: {title}", "Chapter {number}: {title}"),
        ("CHAPTER {number}. {shouted}", "Chapter {number}. {title}"),
        ("CHAPTER {number}\n{shouted}", "Chapter {number}. {title}"),
        ("CHAPTER {number}", "Chapter {number}"),
        ("{number}. {title}", "{number}. {title}"),
    ],
)
def test_prose_right_below_a_heading_is_no_part_of_its_title(printed: str, called: str) -> None:
    names = [(1, "The Inn"), (2, "A Visitor from the North"), (3, "The Ford"), (4, "Market Day"), (5, "The Weir")]
    pages = [
        f"{printed.format(number=number, title=title, shouted=title.upper())}\n"
        f"{fill(paragraph(number, sentences), 70)}\n\n{prose(10 * number)}"
        for (number, title), sentences in zip(names, (1, 2, 5, 4, 3), strict=True)
    ]
    book = check(read_plain("\n\n\n".join(pages)))
    assert titles(book) == [called.format(number=number, title=title) for number, title in names]


def test_a_title_of_several_lines_is_whole() -> None:
    title = "Of what befell the old keeper of the ferry on the night\nof the second flood, and of what he said"
    book = check(read_plain(book_of(f"CHAPTER I. {title}¶", f"CHAPTER II. {title}\ntoo¶")))
    assert [chapter.title for chapter in book.chapters] == [
        f"Chapter I. {' '.join(title.split())}",
        f"Chapter II. {' '.join(title.split())} too",
    ]


@pytest.mark.parametrize(
    "called", ["A Letter", "The Last Chapter", "Conclusion", "The End", "Postscript", "The Preface", "Part Payment"]
)
@pytest.mark.parametrize("printed", ["CHAPTER {}\n\n{}¶", "CHAPTER {}.\n{}.¶", "{}\n\n{}¶"])
def test_a_chapter_may_be_called_what_stands_for_itself_elsewhere(called: str, printed: str) -> None:
    names = ["The Inn", "The Ford", "The March", called]
    numbered = [*zip(("I", "II", "III", "IV"), names, strict=True)]
    label = "Chapter " if printed.startswith("CHAPTER") else ""
    book = check(read_plain(book_of(*(printed.format(number, name.upper()) for number, name in numbered))))
    assert titles(book) == [f"{label}{number}. {name}" for number, name in numbered]


def test_blank_lines_above_its_title_make_a_book_no_story_of_itself() -> None:
    stories = [f"\n{title}\n\n\nI¶\n\nII¶" for title in ("THE FORD", "THE WEIR", "THE MOUTH")]
    book = check(read_plain("\n\n\n" + book_of("RIVER PARTS AND OTHER TALES\n\nby Owen Slade\n\n", *stories)))
    assert titles(book) == ["The Ford", "The Weir", "The Mouth"]
    assert (book.title, book.author) == ("River Parts and Other Tales", "Owen Slade")


@pytest.mark.parametrize(
    "days",
    [
        ("3 de janeiro", "9 de janeiro", "1 de março", "22 de abril", "5 de maio"),
        ("3 stycznia", "9 lutego", "1 marca", "22 kwietnia", "5 maja"),
        ("一月三日", "一月九日（晴）", "2月1日", "2月22日", "三月五日"),
        ("2019-01-03", "2019-01-09", "2019-03-01", "2019-04-22", "2019-05-05"),
        ("Mo, 3.1.2019", "9.1.2019", "01.03.2019 8:15", "22.4.19", "5. 5. 2019"),
    ],
)
def test_entries_of_a_diary_are_chapters(days: tuple[str, ...]) -> None:
    entries = [f"{day}\n\n{prose(10 * number)}" for number, day in enumerate(days)]
    book = check(read_plain("\n\n".join(entries)))
    assert titles(book) == [*days]
    assert not any(chapter.printed for chapter in book.chapters)


@pytest.mark.parametrize("preface", ["前言", "自序", "まえがき", "머리말"])
def test_a_preface_in_east_asian_script_is_in_front_of_the_chapters(preface: str) -> None:
    parts = [f"{preface}¶", *(f"第{number}章¶" for number in "一二三")]
    assert titles(check(read_plain(book_of(*parts)))) == [preface, "第一章", "第二章", "第三章"]


def test_a_part_is_not_called_what_stands_for_itself() -> None:
    parts = ("PART I\n\nCHAPTER I¶", "CHAPTER II¶", "PART II\n\nPREFACE¶", "CHAPTER I¶", "CHAPTER II¶")
    expected = ["Part I", "  Chapter I", "  Chapter II", "Part II", "  Preface", "  Chapter I", "  Chapter II"]
    assert titles(check(read_plain(book_of(*parts)))) == expected


def test_an_interlude_holds_none_of_the_chapters_after_it() -> None:
    parts = ("Prologue¶", "PART ONE\n\nChapter 1¶", "Interlude: The Gull¶", "Chapter 2¶", "PART TWO\n\nChapter 3¶")
    expected = ["Prologue", "Part One", "  Chapter 1", "  Interlude: The Gull", "  Chapter 2", "Part Two"]
    book = check(read_plain(book_of(*parts, "Interlude: The Whale¶", "Chapter 4¶", "Epilogue¶")))
    assert titles(book) == [*expected, "  Chapter 3", "  Interlude: The Whale", "  Chapter 4", "Epilogue"]


@pytest.mark.parametrize("label", ["Chapter{}", "Ch. {}", "Chapter {}"])
def test_numbers_are_known_in_every_form_of_a_label(label: str) -> None:
    book = check(read_plain(book_of(*(f"{label.format(number)}: The Ford¶" for number in (1, 2, 3)))))
    assert [chapter.printed for chapter in book.chapters] == ["1", "2", "3"]


@pytest.mark.parametrize("above", [False, True])
def test_underlined_titles_are_chapters_of_the_text_that_sphinx_makes(above: bool) -> None:
    def marked(title: str, sign: str) -> str:
        line = sign * len(title)
        return f"{line}\n{title}\n{line}\n\n" if above else f"{title}\n{line}\n\n"

    listed = "* 1. The Ford\n\n* 2. The Weir\n\n* 3. The Mouth\n\n"
    parts = [marked("River Parts", "*") + "Owen Slade\n\n" + listed]
    for number, name in enumerate(("The Ford", "The Weir", "The Mouth"), 1):
        parts += [
            marked(f"{number}. {name}", "*") + prose(number),
            marked(f"{number}.1. Rain", "=") + prose(9 * number),
        ]
    book = check(read_plain("\n\n".join(parts)))
    assert (book.title, book.author) == ("River Parts", "Owen Slade")
    assert titles(book) == ["1. The Ford", "2. The Weir", "3. The Mouth"]


@pytest.mark.parametrize("form", ["== {}", "== {} ==", "=={}==", "[[ford]]\n== {}"])
def test_titles_behind_signs_are_chapters_of_asciidoc_and_of_wikis(form: str) -> None:
    names = ("The Inn", "A Long Letter", "The Weir")
    code = "----\n$ make\n----"
    parts = [f"{form.format(name)}\n\n{prose(at)}\n\n=== Notes\n\n{code}" for at, name in enumerate(names)]
    book = check(read_plain("\n\n".join(["= River Parts\nOwen Slade <owen@example.org>\n:toc:", *parts])))
    assert (book.title, book.author, titles(book)) == ("River Parts", "Owen Slade", [*names])
    old = check(read_plain("\n\n".join([f"River Parts\n===========\n:toc:\n\n{paragraph(9)}", *parts])))
    assert (old.title, titles(old)) == ("River Parts", [*names])


def test_a_line_below_a_title_may_be_as_long_as_the_title_looks() -> None:
    names = ("川の町", "夜の橋と灯り", "最後の手紙")
    parts = [f"{name}\n{'=' * (2 * len(name))}\n\n{prose(number)}" for number, name in enumerate(names)]
    assert titles(check(read_plain("\n\n".join(parts)))) == [*names]


def test_captions_above_parts_of_the_contents_are_no_chapters() -> None:
    names = ("1. The Ford", "2. The Weir", "3. The Mouth", "1. The Maps")
    own = "* Rain\n\n\nRain\n====\n\n"
    listed = "\n\n".join(f"* {name}\n\n  * Rain" for name in names[:3])
    front = f"River Parts\n***********\n\n{paragraph(5)[:150]}\n\n{listed}\n\n\nAppendices\n^^^^^^^^^^\n\n* {names[3]}"
    parts = [f"{name}\n{'*' * len(name)}\n\n{own}{prose(5 * number) * 2}" for number, name in enumerate(names)]
    book = check(read_plain("\n\n\n".join([front, *parts])))
    assert (book.title, titles(book)) == ("River Parts", [*names])


@pytest.mark.parametrize(
    ("form", "printed"),
    [
        ("Day {n}", "1"),
        ("UNIT {n}: {t}", "1"),
        ("Lección {n}\n\n{t}", "1"),
        ("Урок {n}. {t}", "1"),
        ("§ {n} {t}", "1"),
        ("Article {r}", "I"),
        ("Art. {n}", "1"),
        ("FEDERALIST No. {n}", "1"),
        ("Log #{n}", "1"),
        ("Chapter-{n}", "1"),
        ("chapter {n}: a long letter", "1"),
        ("Art {n}\n(1) The ford is free to all who come to it, by day and by night, and in any weather.", "1"),
    ],
)
def test_lines_with_the_same_word_and_the_next_number_are_chapters(form: str, printed: str) -> None:
    text = f"The Island Book\n\n{paragraph(5)}"
    for number, title in enumerate(("The Market", "A Long Letter", "At the Weir"), start=1):
        text += f"\n\n{form.format(n=number, r='I' * number, t=title)}\n\n{prose(10 * number)}\n\nPUBLIUS"
    book = check(read_plain(text))
    assert [chapter.printed for chapter in book.chapters] == [printed, *(["II", "III"] if printed == "I" else "23")]


@pytest.mark.parametrize("line", ["Page {n}", "Figure {n}: The ford", "Only {n} of them came back."])
def test_lines_that_count_something_else_are_no_chapters(line: str) -> None:
    told = "\n\n".join(f"{line.format(n=number)}\n\n{prose(10 * number)}" for number in (1, 2, 3, 4))
    assert titles(check(read_plain(f"The Island Book\n\n{paragraph(5)}\n\n{told}"))) == []


def test_titles_among_paragraphs_that_are_lines_are_chapters() -> None:
    names = ("The Inn", "A Visitor from the North", "The Ford", "What Remains", "The Weir", "Market Day")
    lines = [f"{name}\n" + "\n".join(paragraph(10 * at + n) for n in range(9)) for at, name in enumerate(names)]
    assert titles(check(read_plain("\n".join(lines)))) == list(names)
    shouted = "\n".join(lines).replace("The Ford\n", "and nobody\n")
    assert titles(check(read_plain(shouted))) == []


@pytest.mark.parametrize("by", ["by", "Screenplay by", "A Novel by:", "VON", "door"])
def test_the_author_may_stand_below_a_by(by: str) -> None:
    book = check(read_plain(book_of(f"RIVER PARTS\n\n{by}\n\nOwen Slade\n\n", "\n\nCHAPTER I¶", "CHAPTER II¶")))
    assert (book.title, book.author) == ("River Parts", "Owen Slade")


@pytest.mark.parametrize("by", ["Translated by", "Illustrated by", "edited by"])
def test_who_helped_is_no_author(by: str) -> None:
    book = check(read_plain(book_of(f"RIVER PARTS\n\n{by}\n\nOwen Slade\n\n", "\n\nCHAPTER I¶", "CHAPTER II¶")))
    assert book.author == ""


def test_contents_at_the_front_are_not_chapters() -> None:
    contents = "CONTENTS\n\n\n" + "\n\n".join(
        ["BOOK ONE", "CHAPTER I", "CHAPTER II", "BOOK TWO", "CHAPTER I", "CHAPTER II"]
    )
    book = check(
        read_plain(
            book_of(
                contents, "\n\n\nBOOK ONE\n\n\nCHAPTER I¶", "CHAPTER II¶", "BOOK TWO\n\n\nCHAPTER I¶", "CHAPTER II¶"
            )
        )
    )
    assert titles(book) == ["Book One", "  Chapter I", "  Chapter II", "Book Two", "  Chapter I", "  Chapter II"]
    assert book.chapters[0].start > book.text.index("CHAPTER II")


def test_contents_line_by_line_are_not_chapters() -> None:
    first, second = " CHAPTER I  The Period\n CHAPTER II  The Mail", " CHAPTER I  Gold"
    contents = f"Contents\n\n Book the First\n\n{first}\n\n Book the Second\n\n{second}"
    book = check(
        read_plain(
            book_of(
                contents,
                "Book the First\n\n\nCHAPTER I\nThe Period¶",
                "CHAPTER II\nThe Mail¶",
                "Book the Second\n\n\nCHAPTER I\nGold¶",
            )
        )
    )
    assert titles(book) == [
        "Book the First",
        "  Chapter I. The Period",
        "  Chapter II. The Mail",
        "Book the Second",
        "  Chapter I. Gold",
    ]


def test_last_line_of_contents_with_a_preface_under_it_is_no_chapter() -> None:
    contents = "\n\n".join(
        ["CHAPTER I", "CHAPTER II", "CHAPTER III", "CHAPTER IV", "A preface nobody put a heading on."]
    )
    book = check(read_plain(book_of(contents, "CHAPTER I¶", "CHAPTER II¶", "CHAPTER III¶", "CHAPTER IV¶")))
    assert titles(book) == ["Chapter I", "Chapter II", "Chapter III", "Chapter IV"]


def test_what_is_shouted_in_a_chapter_does_not_end_it() -> None:
    book = check(read_plain(book_of("Chapter 1¶", "BEWARE OF THE DOG¶", "“HELP!”¶", "Chapter 2¶")))
    assert titles(book) == ["Chapter 1", "Chapter 2"]


def test_signboards_in_a_novel_without_chapters_make_none() -> None:
    assert titles(check(read_plain(book_of("The keeper¶", "BEWARE OF THE DOG¶", "NO ENTRY¶")))) == []


def test_page_numbers_in_the_text_are_not_chapters() -> None:
    pages = [f"{prose(9 * number, 2)[:-40]}\n\n{number}" for number in range(1, 30)]
    assert titles(check(read_plain("\n\n".join(pages)))) == []


def test_speakers_of_a_play_are_not_chapters() -> None:
    speeches = [f"{'HAMLET' if number % 2 else 'HORATIO'}.\n{prose(number, 1)[:90]}" for number in range(60)]
    assert titles(check(read_plain("\n\n".join(speeches)))) == []


def test_numbered_points_of_an_essay_are_not_chapters() -> None:
    points = [f"{number}. A point in an essay, and a whole paragraph of text all the same." for number in range(1, 12)]
    assert titles(check(read_plain("\n\n".join(points)))) == []


def test_a_sentence_about_a_chapter_is_no_heading() -> None:
    text = book_of("Chapter 1¶", "Chapter 5 of the report was lost.¶", "Chapter 2¶")
    assert titles(check(read_plain(text))) == ["Chapter 1", "Chapter 2"]


def test_those_who_tell_the_story_in_turn_name_its_chapters() -> None:
    names = ["MARA", "TOBIAS", "MARA", "INES", "TOBIAS", "MARA"]
    parts = [f"{name}\n\n\n{prose(20 * at, 16)}" for at, name in enumerate(names)]
    assert titles(check(read_plain("\n\n\n\n".join(parts)))) == [name.title() for name in names]


def test_heads_of_pages_that_take_turns_are_not_chapters() -> None:
    pages = [f"{'THE TOLL HOUSE' if at % 2 else 'RHEA STONE'}\n\n\n{prose(9 * at, 6)}" for at in range(30)]
    assert titles(check(read_plain("\n\n\n\n".join(pages)))) == []


def test_years_are_chapters_of_a_memoir() -> None:
    years = ["1931", "1932–33", "1939", "1940", "1951"]
    parts = [f"{year}\n\n\n{prose(20 * at, 16)}" for at, year in enumerate(years)]
    assert titles(check(read_plain("\n\n\n\n".join(parts)))) == years


def test_numbers_of_pages_beyond_a_thousand_are_no_years() -> None:
    pages = [f"{prose(9 * at, 6)}\n\n{1001 + at}" for at in range(30)]
    assert titles(check(read_plain("\n\n".join(pages)))) == []


def test_the_first_verse_of_a_book_is_not_its_title() -> None:
    verses = [f"And verse {at} of the poem goes on and on" for at in range(60)]
    books = [f"Book {number}\n\n" + "\n\n".join(verses) for number in ("I", "II", "III", "IV")]
    assert titles(check(read_plain("\n\n\n".join(books)))) == ["Book I", "Book II", "Book III", "Book IV"]


def test_text_without_blank_lines_has_chapters_too() -> None:
    lines = ["Chapter 1", *prose(1, 20).split("\n\n"), "Chapter 2", *prose(40, 20).split("\n\n")]
    assert titles(check(read_plain("\n".join(lines)))) == ["Chapter 1", "Chapter 2"]


def test_chapters_cover_what_is_theirs() -> None:
    book = check(read_plain(book_of("PART ONE\n\n\nChapter 1¶", "Chapter 2¶")))
    part, first, second = book.chapters
    assert book.text[part.start : part.end].strip() == "PART ONE"
    assert book.text[first.start : first.end].startswith("Chapter 1")
    assert second.end == len(book.text)


@pytest.mark.parametrize(
    "labels",
    [
        "Chương 1|Chương 2|Chương 3|Chương 4",
        "BAB I|BAB II|BAB III|BAB IV",
        "अध्याय 1|अध्याय 2|अध्याय 3|अध्याय 4",
        "その一|その二|その三|その四",
        "（一）|（二）|（三）|（四）",
        "1 »Todsünden«|2 ‘Tis Pity|3 ¿Qué es?|4 Salt",
    ],
)
def test_numbers_that_count_are_printed_ones_whatever_the_word_before_them(labels: str) -> None:
    headings = with_numbers([Heading(at, at, label, 1) for at, label in enumerate(labels.split("|"))])
    found = [label_of(heading) for heading in headings]
    assert [label.value for label in found if label and label.number] == [1, 2, 3, 4]


@pytest.mark.parametrize("sign", ["|", "•", "·", "/", "–"])
def test_numbers_that_count_may_be_set_apart_by_any_sign(sign: str) -> None:
    for numbers in (("1", "2", "3"), ("One", "Two", "Three"), ("I", "II", "III")):
        names = [f"{number} {sign} {name}" for number, name in zip(numbers, ("Salt", "Tide", "Weir"), strict=True)]
        found = map(label_of, with_numbers([Heading(at, at, name, 1) for at, name in enumerate(names)]))
        assert [label.value for label in found if label] == [1, 2, 3]


def test_names_that_end_in_numbers_are_no_series() -> None:
    headings = [Heading(at, at, title, 1) for at, title in enumerate(("Apollo 11", "Henry IV", "Henry V", "Apollo 13"))]
    assert with_numbers(headings) == headings


def test_an_introduction_with_a_number_begins_the_series() -> None:
    titles_ = ("1 Introduction", "2 Markets", "3 Ports", "4 Ships")
    found = [label_of(heading) for heading in with_numbers([Heading(at, at, t, 1) for at, t in enumerate(titles_)])]
    assert [label.value for label in found if label] == [1, 2, 3, 4]


def test_sections_of_sections_are_no_chapters() -> None:
    parts = [
        f"Chapter {at}. Topic {at}\n\n{at}.1. First¶\n\n{at}.1.1. Detail¶\n\n{at}.1.2. More¶" for at in range(1, 5)
    ]
    assert titles(check(read_plain(book_of(*parts)))) == [f"Chapter {at}. Topic {at}" for at in range(1, 5)]


@pytest.mark.parametrize(("left", "right"), [("(", ")"), ("[", "]"), ("（", "）"), ("［", "］"), ("【", "】")])
def test_numbers_in_brackets_of_any_kind_are_chapters(left: str, right: str) -> None:
    book = check(read_plain(book_of(*(f"\n\n{left}{number}{right}¶" for number in "一二三四五"))))
    assert [chapter.printed for chapter in book.chapters] == [*"一二三四五"]


def test_a_second_volume_goes_on_with_its_numerals() -> None:
    numerals = ("XXI", "XXII", "XXIII", "XXIV")
    told = "\n\n\n\n".join(f"{numeral}\n\n{prose(at, 9)}" for at, numeral in enumerate(numerals))
    assert [chapter.printed for chapter in read_plain(f"THE LONG WALK\n\n\n\n{told}").chapters] == [*numerals]


def test_pages_that_begin_later_are_no_chapters() -> None:
    told = "\n\n\n".join(f"{page}\n\n\n{prose(page)}" for page in range(21, 40))
    assert read_plain(told).chapters == ()


def test_notes_and_summaries_of_chapters_are_no_chapters() -> None:
    told = (f"Chapter {at}: Low Water\n\nChapter Notes\n\n{prose(at)}" for at in (1, 2, 3))
    assert titles(read_plain("\n\n\n".join(told))) == [f"Chapter {at}: Low Water" for at in (1, 2, 3)]


@pytest.mark.parametrize(
    "mention", ["* Chapter 4 - Of Nets\n* 10.2 Of Lines", "4. Chapter 3, The Weir, says how", "Chapter 2, Rain"]
)
def test_a_line_that_begins_with_the_label_of_another_chapter_is_none(mention: str) -> None:
    names = ["Chapter\u00a01. The Ford", "Chapter 2. Rain", "Chapter\u00a03. The Weir", "Chapter 4. Nets"]
    parts = [f"{name}¶" for name in names]
    parts[0] += f"\n\n{mention}\n\n{paragraph(3)}"
    found = titles(check(read_plain(book_of(*parts))))
    assert found == [name.replace("\u00a0", " ") for name in names]


def test_a_manual_in_chinese_has_the_chapters_of_its_contents() -> None:
    line = "本手冊介紹河流上的橋樑與水閘，並說明怎樣在大雨之後檢查它們的狀況"
    licence = "\n".join(
        ["Permission is hereby granted, free of charge", "to any person who has a copy of this book."] * 2
    )
    names = {
        "概覽": ["當地天氣", "最高水位", "河流長度", "沿河城鎮"],
        "各種橋樑": ["木造橋樑", "石造橋樑", "鋼鐵橋樑", "水上浮橋"],
        "各種水閘": ["進水閘門", "過船水閘", "防洪水閘", "水閘保養"],
    }
    contents = ["目錄", ""]
    for number, (name, sections) in enumerate(names.items(), 1):
        contents += [f"{number}. {name}", *(f"    {number}.{at}. {each}" for at, each in enumerate(sections, 1))]
    parts = ["河流手冊", licence, "\n".join(contents), "\n".join([line] * 5 + [f"{line}。"])]
    for number, (name, sections) in enumerate(names.items(), 1):
        parts += [f"Chapter {number}. {name}", f"Section {number}.2, “{sections[1]}”。", f"{line}。"]
        for at, each in enumerate(sections, 1):
            parts += [f"{number}.{at}. {each}", *["\n".join([line] * 4) + "。"] * 4]
    book = check(read_plain("\n\n".join(parts)))
    assert titles(book) == ["Chapter 1. 概覽", "Chapter 2. 各種橋樑", "Chapter 3. 各種水閘"]


def test_numbers_count_though_the_paragraphs_end_with_those_of_verses() -> None:
    titles_ = ("1. The Pairs", "2. Attention", "3. Thoughts")
    told = [
        f"{title}\n\n{paragraph(3 * at)} {at}7\n\n{paragraph(3 * at + 1)}\n{at}8, {at}9"
        for at, title in enumerate(titles_)
    ]
    assert titles(read_plain("\n\n".join(told))) == list(titles_)


VERSE = "The Master said that the river ran slowly past the mill, and that\nnobody on the bank thought of it."


@pytest.mark.parametrize("gap", ["\n        ", "\n\n"])
def test_a_label_in_front_of_a_verse_is_all_the_heading(gap: str) -> None:
    """So begin the chapters of the Analects; the longest have numbered verses."""
    verses = [f"CHAPTER I. 1. {VERSE}", f"2. {VERSE}", f"CHAP. II. {VERSE}", "CHAP. III. The Master said, 'So it is.'"]
    text = "\n\n".join(f"BOOK {number}. HSIO R.{gap}{gap.join(verses)}" for number in ("I", "II", "III"))
    book = check(read_plain(text))
    chapters = ["  Chapter I", "  Chap. II", "  Chap. III"]
    assert titles(book) == ["Book I. Hsio R", *chapters, "Book II. Hsio R", *chapters, "Book III. Hsio R", *chapters]
    assert text[book.chapters[1].start :].startswith("CHAPTER I. 1. The Master said")


def test_numbered_chapters_of_numbered_verses() -> None:
    """So begin those of the Tao Teh King. Only the first has a word, and one of a single verse looks like a verse."""
    told = [f"{number}. 1. {VERSE}\n\n2. {VERSE}\n\n3. So it is." for number in range(1, 15)]
    told[4:6] = [f"5. {VERSE}", "6.\n\n  The river ran,\n  The mill stood still."]
    text = "\n\n".join(["PART 1.", f"Ch. {told[0]}", *told[1:9], "PART II.", *told[9:]])
    chapters = [f"  Ch. {number}" for number in range(1, 15)]
    assert titles(check(read_plain(text))) == ["Part 1", *chapters[:9], "Part II", *chapters[9:]]


def test_long_titles_behind_labels_are_no_verses() -> None:
    title = "Containing an account of the ferry and of the bridge, with other matters\nnot less true than surprising"
    book = read_plain(
        "\n\n".join(f"CHAPTER {number}. {title} {number}.\n\n{prose(40 * number, 20)}" for number in range(1, 8))
    )
    assert all(each.title.endswith(f"than surprising {each.number}") for each in book.chapters)


def test_numbered_paragraphs_of_laws_are_no_chapters() -> None:
    articles = [f"Art {at}\n\n(1) {paragraph(at)}\n\n(2) The ferry is free." for at in range(1, 10)]
    articles[0], articles[4], articles[7] = (
        f"I. The Ferry\n\n{articles[0]}",
        f"II. The Ford\n\n{articles[4]}",
        f"III. The Weir\n\n{articles[7]}",
    )
    assert titles(check(read_plain("\n\n".join(articles)))) == ["I. The Ferry", "II. The Ford", "III. The Weir"]


def test_lists_of_recipes_number_no_chapters() -> None:
    boil = "Boil them for as long as it takes, with an onion and bread from the day before."
    steps = f"1. Cut the leeks.\n2. {boil}\n3. {boil}"
    recipe = f"{{}}\n\nServes 4\n\n2 onions\n3 leeks\n1 potato\n\n{steps}"
    dishes = [recipe.format(dish) for dish in ("Leek Soup", "Plum Cake", "Rye Bread")]
    kinds = [f"\n\n{kind}\n\n{prose(2)}\n\n" + "\n\n".join(dishes) for kind in ("Soups", "Cakes", "Breads")]
    assert titles(check(read_plain("\n\n".join(kinds)))) == ["Soups", "Cakes", "Breads"]


def test_a_long_list_of_words_is_not_searched_for_chapters() -> None:
    assert not blocks_of("Day 1\n" * 60_000)
    verses = "The river ran\n" * 60_000
    assert len(blocks_of(verses)) == 60_000


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_a_chinese_table_of_contents_ends_where_its_short_names_come_again(gap: str) -> None:
    volumes = {
        "第一卷 春水": ["第一章 码头", "第二章 家书", "第三章 夜渡"],
        "第二卷 秋风": ["第四章 争吵", "第五章 盐"],
    }
    table = [line for volume, chapters in volumes.items() for line in (volume, *chapters)]
    line = "小河在老桥下面慢慢地流过，谁也没有想起那座磨坊。" * 12
    told = [f"{each}\n\n{line}\n\n{line}" if each[2:3] == "章" else each for each in table]
    text = f"渡口\n\n作者：李四\n\n\n目录\n\n{gap.join(table)}\n\n\n" + "\n\n".join(told)
    assert titles(check(read_plain(text))) == [each if each[2:3] == "卷" else f"  {each}" for each in table]


def test_a_table_of_contents_ends_at_a_title_with_its_author_below() -> None:
    stories = {"The Harbour": "Mary Quill", "Night Crossing": "J. R. Stone", "Salt": "Li Wei", "Low Water": "Nell Wood"}
    table = "\n".join(f"{title} / {author}   {at}7" for at, (title, author) in enumerate(stories.items()))
    told = "\n\n\n\n".join(f"{title}\n{author}\n\n{prose(9, 12)}" for title, author in stories.items())
    book = check(read_plain(f"THE BEST OF THE RIVER\n\n\nCONTENTS\n\n{table}\n\n\n\n{told}"))
    assert titles(book) == [f"{title} {author}" for title, author in stories.items()]
    assert book.title == "The Best of the River"


def test_articles_and_amendments_without_sections_are_found_beside_those_with() -> None:
    """So is the constitution of the United States divided."""
    numbers = ("I", "II", "III", "IV")
    sections = {"I": 2, "II": 3}
    articles = [
        f"ARTICLE {number}.\n\n"
        + "\n\n".join(f"Section {at}.\n{prose(7 * at)}" for at in range(1, sections.get(number, 0) + 1))
        + ("" if number in sections else prose(30))
        for number in numbers
    ]
    amendments = [f"AMENDMENT {number}.\n\n{prose(40)}" for number in numbers]
    book = check(read_plain("\n\n".join(["THE CONSTITUTION", *articles, *amendments])))
    tops = [chapter.title for chapter in book.chapters if chapter.level == 1]
    assert tops == [f"{kind} {number}" for kind in ("Article", "Amendment") for number in numbers]


@pytest.mark.parametrize("form", ["Article {}. {}", "Art. {}. — {}", "Artículo {}.º {}", "Artigo {} {}"])
def test_articles_of_a_law_begin_in_the_lines_of_their_labels(form: str) -> None:
    chapters = [f"CHAPTER {number}\n\nOF FERRIES" for number in ("I", "II")]
    articles = [form.format(at, VERSE) for at in range(1, 9)]
    label = form[: form.index("{}")]
    assert titles(check(read_plain("\n\n".join(articles)))) == [f"{label}{at}" for at in range(1, 9)]
    divided = "\n\n".join([chapters[0], *articles[:4], chapters[1], *articles[4:]])
    assert titles(check(read_plain(divided))) == ["Chapter I. Of Ferries", "Chapter II. Of Ferries"]
