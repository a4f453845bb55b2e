"""Page references that a model types go, however they are disguised, and the sentence stays a sentence."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.citations.keys import as_seen
from domain.citations.page_numbers import TypedPages, settled, tells_of_pages, without_paging, without_typed_pages
from domain.citations.symbols import SIGNPOST, TYPED_PAGE, marked
from tests.sampling import a_few


@pytest.mark.parametrize(
    "text",
    [
        "She turned the page. In 1912 I liked that page I read.",
        "Her page boy paid 42 pounds; the page, 12 years old, ran.",
        "The page twelve years later became a knight, in the squire and page. One day he left.",
        "Chapter 12 tells it (ch. 12), as Act 2 does (Act 2), in 1887 (1887; c. 1851; May 1897; b. 1851; No. 38).",
        "He read 300 pages; das Buch hat 38 Seiten, le livre 38 pages, 全300頁.",
        "In 1912. Page boys ran. Mr. Page 1887. At 5 p.m. 12 men came, 5 p. m. 12.",
        "The second page of the letter was gone; she read the first page and wept.",
        "A page one could love, one of the page’s two sons, page after page, two by two.",
        "She turned a page.\n\n1. First\n2. Second",
        "U.S. 38 states, Messrs. 38, side 2, vol. 3, no. 4 and Book 3, line 4.",
        "The Arrival (12), The Key (3), and Varley (38) [12 men].",
        "His brother (Levi) mixed (mix) it for Ali (Ali): (i) milk, (ii) tea, (iii) ink. He left [1851] in May (1851).",
        "She turned the page. Two dogs barked. Elle tourne la page. Deux hommes entrent. Una página. Dos hombres van.",
        "A page two feet tall; le page deux fois puni; auf beiden Seiten zwei Türme; sida vid sida två män.",
        "It is 38 m² and 2³, ein m² Tuch. [He](https://example.org/38) left; in chapter 3 the thirty-eighth man left.",
    ],
)
def test_what_is_no_page_reference_is_left_alone(text: str) -> None:
    assert without_typed_pages(text) == text


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("Ann leaves (p. 99).", "Ann leaves."),
        ("Ann leaves [see pages 40–42].", "Ann leaves."),
        ("Ann leaves (pp. 12-99) today.", "Ann leaves today."),
        ("(Chapter 3, p. 42) Ann leaves.", "(Chapter 3) Ann leaves."),
        ("On page 42, Ann leaves.", "In the book, Ann leaves."),
        ("The key she finds on page 42 is brass.", "The key she finds in the book is brass."),
        ("It is on the 42nd page.", "It is in the book."),
        ("Page 42 says so.", "A page says so."),
        ("On page 217 men die.", "In the book men die."),
        ("Page 42: the storm", "The storm"),
        ("- **p. 42** – *the* storm", "- *the* storm"),
        ("Scenes:\n- p. 42 – the storm\n- **Page 43**: the calm", "Scenes:\n- the storm\n- The calm"),
        ("Seite 42: Sturm. Page 43. The calm comes.", "Sturm. The calm comes."),
        ("See p. 42.", "See a page."),
        ("Pages 40–42 and pp. 3, 7 and 9 say so.", "Some pages and some pages say so."),
        ("Auf Seite 42 geht sie (S. 42).", "Auf Seite … geht sie."),
        ("Das steht auf S. 42.", "Das steht auf S. …."),
        ("En la página 42 se va.", "En la página … se va."),
        ("На странице 42 она уходит (стр. 42).", "На странице … она уходит."),
        ("第 12 頁", "第 … 頁"),
        ("- Scene one (12)\n- Scene two, p.\n13", "- Scene one\n- Scene two, a page"),
        ("À la page n° 38, il part.", "À la page n° …, il part."),
        ("Auf der achtunddreißigsten Seite, S. 38 f.", "Auf der … Seite, S. …."),
        ("She leaves [page 38](https://example.org/38).", "She leaves."),
    ],
)
def test_what_is_one_goes_and_the_sentence_stays(typed: str, shown: str) -> None:
    assert without_typed_pages(typed) == shown


@pytest.mark.parametrize(
    "typed",
    [
        *("(p.\u200b 99)", "(p. 9\u20609)", "(\u202ap.\u00ad 99\u202c)", "(p.  99)", "(p.&nbsp;99)", "(p. &#57;9)"),
        *("(ｐ. ９９)", "(p․ 99)", "(p. ⑨)", "(p. Ⅸ)", "(P. IX)", "(PAGE 99)", "(p 99)", "(pp99)", "(p\\. 99)"),
        *("(p. **99**)", "(**p.** 99)", "(p. `99`)", "(p. 12**9**)", "(p. <b>99</b>)", "(||p. 99||)", "(p. 12`9`)"),
        *("(p. 12, 99)", "(p. 12; 99)", "(p. 12 / p. 99)", "(p. 12 or 99)", "(pp. 12, 13, 99)", "(p. 99 ff.)"),
        *("(about p. 12)", "[p12]", "(стр. 38)", "(σελ. 38)", "(σ. 38)", "(s. 38)", "(siehe S. 38 f.)", "[38]"),
        *("(38)", "(xxxviii)", "(thirty-eight)", "[^38]", "{38}", "【38】", "【38†source】", "³⁸", "<sup>38</sup>"),
        *("[page 38](https://x.org/38)", "([38](#page=38))", "(side 38)", "[p. 38](x.html#p38)"),
    ],
)
def test_no_disguise_keeps_a_reference_in_brackets(typed: str) -> None:
    assert without_typed_pages(f"Ann leaves {typed}.") == "Ann leaves."


@pytest.mark.parametrize(
    "typed",
    [
        *("p12", "pg. 12", "pg 12", "p.12", "P.12–P.40", "page: 12", "page #12", "page no. 12", "page number twelve"),
        *(
            "page thirty-eight",
            "the thirty-eighth page",
            "the eleventh page",
            "pages 38 through 40",
            "page xii",
            "page (12)",
        ),
        *(
            "page “12”",
            "page “twelve”",
            "page numbered 12",
            "page-12",
            "page_12",
            "page 0012",
            "page 1,012",
            "p. 12:3",
            "p a g e 12",
        ),
        *("раgе 12", "ρage 12", "ｐａｇｅ １２", "page １２", "page ١٢", "pàge 12", "ᴘᴀɢᴇ 12", "🅿🅰🅶🅴 12", "𝐩𝐚𝐠𝐞 𝟏𝟐"),
        *(
            "ⓟⓐⓖⓔ ⑫",
            "p@ge 12",
            "p4ge 12",
            "page ⅩⅡ",
            "page [s-1234567] 12",
            "page\n12",
            "на 12-я странице",
            "страница двенадцать",
        ),
        *(
            "Seite zwölf",
            "Seite achtunddreißig",
            "der 12. Seite",
            "la 12e page",
            "page trente-huit",
            "página treinta y ocho",
        ),
        *(
            "صفحة 12",
            "עמוד 12",
            "पृष्ठ १२",
            "หน้า ๑๒",
            "σελίδα 12",
            "sayfa 12",
            "12. sayfa",
            "12. oldal",
            "trang 12",
            "blz. 12",
        ),
        *("12ページ", "第十二頁", "12쪽", "folio 12", "삼십팔 쪽", "בעמוד 12", "fol. 12v", "page 1 2", "pág 12"),
        *("sidan trettioåtta", "på side otteogtredive", "på side 12", "на с. 12", "на тридцать восьмой странице"),
        *("بالصفحة الـ12", "पन्ने १२", "अड़तीसवें पन्ने", "12ஆம் பக்கத்தில்", "στη σελίδα λη΄", "f. 12 rº, p. 12"),
        *("à la trente-huitième page", "en la trigésima octava página", "op de achtendertigste bladzijde"),
        *(
            r"page \x33\x38",
            r"p\u0061ge \u0033\u0038",
            "page%20%33%38",
            "page t-w-e-l-v-e",
            "page t.w.e.l.v.e",
            "page x-i-i",
        ),
        *("page ⚂⚄", "page 🂣🂨", "page 🕒🕗", "page 🀉🀊", "第卅八頁"),
    ],
)
def test_no_disguise_keeps_a_reference_in_a_sentence(typed: str) -> None:
    checked = without_typed_pages(f"It stands on {typed}, they say.")
    left = re.sub(r"s-1234567", "", checked)
    assert checked != f"It stands on {typed}, they say."
    assert not re.search(
        r"\d|twelve|eight|zwölf|acht|двенадцать|восьм|trente|trettio|tredive|treinta|trigés|십|十|xii|Ⅻ|तीस|λη|[१-९]"
        "|3[38]|t-w|t.w|x-i|[⚂⚄🂣🂨🕒🕗🀉🀊卅]",
        left,
    ), checked


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("**Page 42** says so.", "**A page** says so."),
        ("Page **42** says so.", "A page says so."),
        ("It is on page *42*, *I think*.", "It is in the book, *I think*."),
        ("Ann stays (p. 12, 13; **12**), p. 12².", "Ann stays, a page."),
    ],
)
def test_emphasis_stays_whole(typed: str, shown: str) -> None:
    assert without_typed_pages(typed) == shown


def test_a_key_in_a_typed_reference_stays() -> None:
    assert without_typed_pages("Ann stays (p. 12 [s-1234567]).") == "Ann stays [s-1234567]."


def test_what_stands_before_a_text_counts() -> None:
    assert without_typed_pages(" (12) and", "”") == " and"


@given(st.text(max_size=60))
def test_other_texts_keep_all_their_letters(text: str) -> None:
    assert 0 <= settled(text) <= len(text)
    if not re.search(r"[^\W\d_]", text) and "[" not in text and "(" not in text:
        assert without_typed_pages(text) == text


def test_a_number_in_words_with_which_an_answer_begins_waits_for_a_word_for_page() -> None:
    assert settled("칠십팔 ", begins=True) == 0
    assert settled("하지만 ", begins=True) > 0


@pytest.mark.parametrize("step", [3, 13, 20, 26])
def test_a_number_that_begins_a_line_waits_for_what_follows_it(step: int) -> None:
    chapters = [(2, "II"), (3, "III"), (6, "VI"), (7, "VII"), (8, "VIII")]
    lines = (
        f"* {number}. Chapter {printed}. JONATHAN HARKER'S JOURNAL--continued (1 ×)" for number, printed in chapters
    )
    listed = "\n".join(["“Whitby” appears 43 times so far:", *lines])
    held = ""
    for at in range(0, len(listed), step):
        held += listed[at : at + step]
        end = settled(held)
        assert not re.search(r"\* \d\. ?\w*\Z", held[:end])
        held = held[end:]


@given(st.text(alphabet="page 12.S()[]On,-–\nxi", max_size=60))
def test_no_number_is_left_behind_a_word_for_page(text: str) -> None:
    checked = without_typed_pages(text)
    assert not any(f"({word}{number})" in checked for word in ("p. ", "pp. ", "page ") for number in ("1", "2", "12"))


_PARTS = """
    on the page pp. p. S. s sida Seite side pa на см с. c. стр página ref leaf fols.
    third 3rd twelve thirteenth 12 xii 1. ¹ 第 三 頁 张 쪽 십 ' ( ) [ ] { , .
"""


@given(st.lists(st.sampled_from([*_PARTS.split(), " ", " ", " "]), max_size=12).map("".join))
def test_every_reference_has_a_signpost(text: str) -> None:
    read = marked(as_seen(text).text)
    assert SIGNPOST.search(read) or not TYPED_PAGE.search(read)


def bare(text: str, known: int = 0) -> str:
    """The text as it is shown if only that number is known."""
    return TypedPages(lambda number: number.values == [known]).remove(text)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("It begins on 38. At 25–27 it ends.", "It begins in the book. In the book it ends."),
        ("It begins (38), see the mate (see 4, 9) [→12].", "It begins, see the mate."),
        ("It begins, 38; it ends – 40.", "It begins; it ends."),
        ("See 38 for the storm. Turn to 38–40 there.", "See a page for the storm. Turn to some pages there."),
        ("It begins (ch. 3; 38), in chapter 3, 38.", "It begins (ch. 3), in chapter 3."),
        ("It begins on 38 verso, on leaf 38, on ff. 38-40.", "It begins in the book, in the book, in the book."),
        ("It begins *38*. It ends “38”, it is `38`.", "It begins. It ends, it is `…`."),
        ("The page number of the storm is 38.", "The page number of the storm is …."),
        ("It is told on page → 38, page <38>.", "It is told on page → …, page <…>."),
        ("[38] It begins.\n38. It ends.\n**38**: It goes on.", " It begins.\nIt ends.\n**…**: It goes on."),
        ('{"page": 38, "p": "40"}\nSource: 38', '{"page": …, "p": "…"}\nSource: …'),
        ("The storm ....... 38\nThe calm\t40", "The storm\nThe calm"),
        (
            "It is so (Stevenson 1883, 38), (see also 38), (38 below), ^38^, in (vol. 1, 38).",
            "It is so (Stevenson 1883),,,, in (vol. 1).",
        ),
        ("It is “so” 38. It is on XXXVIII.", "It is “so”. It is in the book."),
        ("Es beginnt auf 38 (vgl. 38), Blatt 38v.", "Es beginnt auf …, Blatt …."),
        ("嵐はP.38で始まる。风暴在页码38开始。", "嵐はP.…で始まる。风暴在页码…开始。"),
    ],
)
def test_a_number_that_counts_nothing_is_one_where_references_stand(typed: str, shown: str) -> None:
    assert bare(typed) == shown


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("It begins on forty-seven. It ends on the 38th.", "It begins in the book. It ends in the book."),
        (
            "Described in 47, told by 48, at the foot of forty-nine.",
            "Described in the book, told by …, at the foot of ….",
        ),
        ("It begins here: 213, 214, 230.\n\n**References:** 213, 214", "It begins here.\n\n**References:** …"),
        ("See 213, 214, 230. Ann, 213, 214, and Ben stay.", "See a page. Ann, and Ben stay."),
        ("It begins ([213], [214]).\n**Source**: [213], [214], [230]", "It begins.\n**Source**:"),
        ("**213** Ann drowns.\nBetween 213 and 215 Ben weeps.", "**…** Ann drowns.\nBetween … Ben weeps."),
        ("It begins in 6:38, ends at 6:213; so (ch. 6 / 38).", "It begins in the book, ends in the book; so."),
        ("It's 213 where he dies. Bei 38 weint er. Reread 38.", "It's … where he dies. Bei … weint er. Reread."),
        ("On 213/215 he dies, as 213 and 215 tell. Um 38 weint er.", "In the book he dies, as … tell. Um … weint er."),
        ("Laut 38 isst er; laut 50 Zeugen nicht. Try 64.", "Laut … isst er; laut … Zeugen nicht. Try."),
        (
            "He dies, ch. 6:213. Read up to 213. In the Penguin it's 213.",
            "He dies, ch. Read up to …. In the Penguin it's ….",
        ),
        ("It begins here: 47. It ends in chapter 3 @ 47.", "It begins here. It ends in chapter 3."),
        ("It begins on þ. 38, on page $38$, on page 0x26.", "It begins in the book, in the book, in the book."),
        ("嵐はp.四十七で始まる（三十八）。", "嵐はp.…で始まる。"),
        (
            "47 relates that it begins; as 48 makes clear, it ends.",
            "… relates that it begins; as … makes clear, it ends.",
        ),
        ("On 47 Ahab dies. In 47 poor Ahab dies.", "In the book Ahab dies. In the book poor Ahab dies."),
        ("It begins two pages before 40, and 38 pages in.", "It begins … pages before …, and … pages in."),
        ("It is clear. Spiders 38.\nStorms 47\nClaim 3.", "It is clear. Spiders.\nStorms\nClaim 3."),
        ("It begins, item 38. It ends (Smith 1851: 47), 38:4.", "It begins, item. It ends (Smith 1851)."),
        ("Burza jest na czterdziestej siódmej stronie.", "Burza jest na … stronie."),
        ("Fırtına otuz sekizinci sayfada; σελίδα τριάντα οκτώ.", "Fırtına … sayfada; σελίδα …."),
        ("Буря на сторінці сорок сім, в צפחה", "Буря на сторінці …, в צפחה"),
        ("It is in part 78, in verse 78, in ch. 6/78.", "It is in part, in verse, in ch."),
        ("Ann is a prisoner. 120. Answer: 346.", "Ann is a prisoner. Answer."),
        ("1. Chapter 2, page 34\n2. Chapter 3, page 35", "1. Chapter 2, a page\n2. Chapter 3, a page"),
        ("It stands at the 26-page mark. Does she leave? 104.", "It stands in the book. Does she leave?"),
        ("The 78th act, 217 o'clock, the 217 May: 900 years ago.", "The … act, … o'clock, the … May: 900 years ago."),
        ("La 38 dit que oui; c'est à la trente-huit.", "La … dit que oui; c'est à la …."),
        ("It is 38. That's 40. I think it must be 41.", "It is …. That's …. I think it must be …."),
        ("It begins 38 leaves in; five pages in, it ends.", "It begins … leaves in; … pages in, it ends."),
        ("Ann burned the letters 38. Ann burned [x38].", "Ann burned the letters. Ann burned."),
        ("Ann burned “it´³⁸ on her page⁴.", "Ann burned “it´ on her page."),
        ("Voyez 38 : elle part (vgl. dort 38).", "Voyez … : elle part."),
        ("غرق في العاصفة، انظر ٣٨. ৩৮ পৃষ্ঠায়। Σ. ληʹ.", "غرق في العاصفة، انظر. … পৃষ্ঠায়। Σ. …."),
        ("العاصفة في صفحة سبعة وأربعين. תחילה בעמוד שלושים ושמונה.", "العاصفة في صفحة …. תחילה בעמוד …."),
    ],
)
def test_a_number_goes_unless_something_licenses_it(typed: str, shown: str) -> None:
    assert bare(typed) == shown


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("See p. 42. Ann drowns. See page 42. Ben weeps. (See pp. 3, 7 and 9.)", "See a page. Ann drowns. Ben weeps."),
        ("Ann ertrinkt. Siehe Seite 42. Vgl. S. 12 f. Ben weint.\nQuelle: S. 42", "Ann ertrinkt. Ben weint.\n"),
        ("Ann drowns.\n\nPage 38\n\nBen weeps.\n\nSee p. 3.\n\nEnd.", "Ann drowns.\n\nBen weeps.\n\nEnd."),
        ("Ann drowns. See 42. Turn to pages 38–40 for more details. Voir p. 3.", "Ann drowns."),
        ("Ann drowns. See page 42 for the storm; see p. 3.", "Ann drowns. See a page for the storm; see a page."),
        (
            "Ann drowns. See p. 42 [s-1234567]. See p. 3. [s-1234567]",
            "Ann drowns. See a page [s-1234567]. See a page. [s-1234567]",
        ),
    ],
)
def test_a_sentence_that_says_nothing_but_a_reference_goes_whole(typed: str, shown: str) -> None:
    assert bare(typed) == shown


@pytest.mark.parametrize("head", ["Page", "Seite", "S.", "p.", "Pg", "стр.", "ページ", "Where", "**Page(s)**"])
def test_a_column_for_pages_is_empty(head: str) -> None:
    table = "| Scene | {} | Men |\n|:--|--:|---|\n| Storm | {} | 38 |\n| Calm | {} | 40 |\n\n| a {} | b |"
    cells = ("38–40", "xii [s-1234567]", "| 38"), ("", "[s-1234567]", "|")
    typed, shown = (table.format(head, *each) for each in cells)
    assert bare(typed) == shown.replace("|  |", "| |")


@pytest.mark.parametrize(
    "text",
    [
        "He was 25 on 25 December, 3 of 25 men, on 3 and 4 May, on 38 days.",
        "Psalm 23; Genesis 3:16. Chapter 3, verse 4. Chapters 3, 4, and 5. Kessin, 31. Dezember.",
        "1. One\n2. Two\n\n(1) a, (2) b and (3) c. It cost £25.",
        "| Name | Age |\n|---|---|\n| Ann | 25 |\n\nIn Room 101, on Route 66. It is 5 at 7 p. m. now.",
        "At 5 pm he left; he is 27, was born on 3 May 1866, died in 1931, at the age of 65, after 21 years in Room 4.",
        "Of 120 men, 8 came home; 5 of the 12 stories. They paid $1,200. Genesis 2:14.",
        "There:\n\n1. One\n2. Two\n\n**3. Three**\n\n### 5. Five\nSo:\n  4. Four",
        "She is thirty-eight. One of the two died, all three left, the third stayed; forty days, a thousand to one.",
        "In the 1830s Louis XVI and Elizabeth II; World War II, Apollo 11 and Catch-22. In act 5, scene 2, he dies.",
        "Im 12. Kapitel, am 3. Tag, in Kapitel 12; er ist siebzehn Jahre alt. Le 14 juillet 1789, au XVIIIe siècle.",
        "彼は38歳で、第12章に47人がいる。他三十八岁，有300页。Тридцать восемь дней, глава 12. El siglo XIX.",
        "Question 5 says so, and step 2 as well. He's 38, and it was 38 feet long. It was in the 15th century.",
        "His V-2 fell, in 38 BC, with 38 thousand men who had 20 000 livres. The wall is 38 m. high.",
        "38, rue du Port. Groups of 4; a girl of 16; a crew of 38; 9 × 2 = 18.",
        "**25** men; he was **25**. Louis XIV, Vol. II. Age: 25\nTotal: 25\nHe left in 1912 (1912), on 1 or 2 days.",
    ],
)
def test_other_numbers_stay(text: str) -> None:
    assert bare(text) == text


def test_ages_stay_where_they_are_asked_for() -> None:
    pages = TypedPages(lambda number: False, "How old are they?")
    assert pages.remove("- Meg – 16\n- Jo: 15\nShe is 38, Mrs. March 43; elle, 20.\n") == (
        "- Meg – 16\n- Jo: 15\nShe is 38, Mrs. March 43; elle, 20.\n"
    )
    assert pages.remove("He left the house, 38. The lamp: 213.\n") == "He left the house. The lamp.\n"


def test_a_number_that_was_given_is_no_typed_page() -> None:
    assert (
        bare("Ann (38) fell on 38, and it sank (40) on 40.", known=38)
        == "Ann (38) fell on 38, and it sank in the book."
    )


@pytest.mark.parametrize(
    "text",
    [
        "Er ist mit rund 75 Jahren tot. Ann is 13 here. He died at the age of 71; Lydia (aged 15) ran.",
        "Ages at first:\n\n- Jane (22)\n- Mary (18 or 19)\n- Lydia, 15\n",
        "The ice broke on 9 May; on the 11th they left from the 14th to the 16th, until the 20th.",
        "About 10–15% of it, at 47° 12' N, between 10 and 15 °C.",
        "(10. Buch, 8. Kapitel; Revelation 13:18). They came at 2 cents each.",
        "It has 80 to 100 pages in print. He is probably 26 or 27 when he sails.",
        "There were forty-two (42) men, ten (10) boys; il a cinquante-trois (53) ans, er ist siebenundvierzig (47).",
        "Whitby comes up 42 × there, the bay 42× and the sea 42x.",
        "7 are alive. He is 25. He owes 30 francs. It is at 4 in the morning, at 12 at night.",
        "Call 116 123 or 911. The Crisis Lifeline is at 988. Lifeline: 988 (US). Ruf an: 0800 111 0 111.",
        "She is 5'4\". Er zahlt 3 Mark. It goes from 0 to 12.",
        "About 47% of the book is dialogue. You're 47% through the book. On Kindle, 47% of readers like it.",
        "It rose by 47 %. Er stieg um 47 %. Bei 47 % der Fälle half es. Il gagne avec 47 % des voix.",
        "47% of readers like it, and Ann is 50% sure. Ben’s share is 31%. It fell from 60% to 47%.",
        "Some 40% died. Of us, 40% died. Set it to 180 °C, at 93 °C.",
        "Set the limit to 512 MB, at 4 in the afternoon. Er stieg von 40 auf 65 Taler.",
        "47% of this book is dialogue. Two thirds of the men died, three quarters of them at sea. Zwei Drittel leben.",
        "On Kindle, 47% of readers like it. 约40%的人死了。",
        "At 5% interest he lends it (47% of his money), in 31% of cases. His chances are at 31%.",
        "Bei 8 % Zinsen; 47 % der Männer starben.",
        "Ten percent of it. Il a 51 pour cent du navire.",
        "You're at about 47%, or 47% through. Du bist bei 47 %. Vous êtes à 47 %.",
        "À 31 % des voix. Cerca del 75 % de los vecinos se fue. Выжило около 31 % команды.",
        "Die Kapitel 3, 7 und 12. Kapitel 3, 7 und 12 sind Briefe.",
        "It sold 12,500 copies for 4,210 pounds, and 0.75 litres are enough. A third of them is left.",
        "A haiku has 5-7-5 syllables.",
        "A vote of 9 to 3; it is 20 to 8. Now: 9 to 12 °C. Interest is at 8 per cent.",
        "Two children, ages 4 and 7; a village of 300 men, of whom 40 can read.",
        "They left on the 26th. It rains from the 12th to the 15th. He takes 5 mg; it runs 30 miles.",
        "Athos is 30; he is nearly 31. Born in nineteen oh five, he rose at one o'clock; one—two—three!",
        "Highs of 18 and lows of 7; 14 °C on Monday. Rain is likely (70%).",
        "Holden is 16; sie ist 38. Ему 23 года. Es ist 10 vor 8.",
        "| Who | Acts |\n|---|---|\n| Ann | 3, 4, 9 |\n12 Londoners died. 10 Downing Street is his.",
        "Open http://localhost:9090.",
        "It takes 4 hours 40.",
        "The audiobook lasts 9 hours. A third of the novel is about whales. You've read two thirds of the book.",
        "Number 3 is the answer.\nReply 12: Lamp 7 is out. This is sentence number 17. I counted to 40.",
        "The wall is 3 m by 4 m, the room 20 feet by 12; Ann is 5 foot 4. Only 1 in 4 came back to 10 Mill Lane.",
        "The area is 12 km² or 12 m² or x¹².",
        "Rated:\n1. Ann – 10/10\n2. Ben – 8/10\n3. The cook: 3/5",
        "That's 60%. Losing 40% is deadly. Ann: 35%, Ben: 27%, the others, i.e. 67%.",
        "Sie haben 40 % gelesen. Der Zug geht um 12 Uhr 10. ISBN 978-0-14-143984-6, at https://books.test/ebooks/1342.",
        "It cost 120 rubles, 34 maravedis or 80 Gulden und 25 Kreuzer; Gli deve 90 scudi. 門から730歩。",
        "40원이었습니다.",
        "The cask held 63 gallons, the field 40 hectares, and the wall was 45 cubits long, 40 versts away.",
        "If you read 20 pages a day, you need 17 days. Sie ist Mitte dreißig, er Ende vierzig.",
        *("Echo 82.", "word12 word13 word214", "He leaves. Answer 346 is right. Reply 120."),
        "The audience grew by 12%. Your third paragraph is good.",
    ],
)
def test_a_number_that_nobody_gave_stays_where_its_words_make_it_no_page(text: str) -> None:
    assert bare(text) == text


@pytest.mark.parametrize(
    "typed",
    [
        "two-thirds of the way through the novel",
        "three quarters into the book",
        "a third of the way in",
        "nach gut einem Drittel des Romans",
        "nach vier Fünfteln des Textes",
        "después de tres cuartas partes de la novela",
        "op driekwart van de roman",
        "quand on a lu deux tiers du livre",
        "; прочитаны две трети романа",
        "; zweihundertelf Seiten weiter im Buch",
        "three hours and forty-one minutes into the recording",
    ],
)
def test_how_far_into_a_book_something_stands_is_not_told_in_words_either(typed: str) -> None:
    text = f"Ann leaves {typed}, and Ben stays."
    shown = TypedPages(lambda number: False).remove(text)
    told = r"third|quarter|Drittel|Fünftel|cuarta|kwart|tiers|трети|zwei|forty|three"
    assert not re.search(told, shown), shown


@pytest.mark.parametrize(
    "typed",
    [
        "on page forty-two (42)",
        "on forty-two (42)",
        "(forty-two) (42)",
        *("auf S. 42 von 90", "on 42 of 90", ", 42 of 90", "42 von 312", "42 of 312"),
        *("in *The Light* II, 42", "(“The Light” II, 42)", "as *Emma*, 42, says"),
        *("(hotline, 342)", "on 342 (UK)", "; 4 × 5 is on 42", "; of the 8 dwarves, 42", "0042 0042"),
        *("at 42% of the book", "about 42 percent into the novel", "around the 42% mark", "bei 42 Prozent des Buches"),
        *("à 42 % du livre", "al 42 % del libro", "42%のところで", "of the way, 42% of the way through the book"),
        *(
            "at 42 percent of a 420-page book",
            "at 0.42 of the 400 pages",
            "(~42%)",
            "– 42%",
            ", roughly 42% in",
            "at 42 percent",
            "near 42%",
            "at the 42% point",
        ),
        *("(forty-two percent)", "at roughly 42 per cent", "42％付近です", "42パーセントあたりで", "（42％）"),
        *("; at 42% Ben stays", "at about 42% on a Kindle", "(progress: 42 %)", "by 42% of the story; at 42%, then"),
        *(". Bei 42 % geht er", ". Nach 42 Prozent geht er", "bei etwa 42 %", "(ca. 42 %)", ", Fortschritt 42 %"),
        *("à 42 %", "vers 42 pour cent", "(env. 42 %)", "al 42 %", "hacia el 42 % de la lectura"),
        *(". Примерно на 42 % она уходит", ". Около 42 %, где", "на 42 процентах книги", "進捗42％で"),
        *("at Loc. 1842", "(Kindle location 1842-1850)", "at position 1742", "[Ch. 3:42]", "around the 3:42 mark"),
        *("; siehe Nummer 42", "; vgl. Nr. 42", "; voyez le numéro 42", ". Смотри номер 42: там", ", compare line 42"),
        *("as told by Mark 42", "(Luke 42)"),
        *("[01:12:42]", "<ref>42</ref>", "<source>42</source>"),
        *("(Kindle 42%)", "at 42 % on my Kindle", "(Kindle: 42 %)", "bei 42 % im E-Book", "à 42 % sur Kindle"),
        *("(location 42%)", "42% of the way in", "42% through", "vers 42 % du roman", "hacia el 42 % de la novela"),
        *("на 42% романа", "42％のあたりで", "Kindleの42％で", "; Quelle: Kapitel 3, 42", "; see number 42"),
        *(
            "between 42% and 43% of the novel",
            "; between 42 and 43 percent, then",
            "; by 42% she has",
            "; past 42% everything is",
        ),
        *("42% in", "; roughly 42% in we know", "around the 42 percent mark", "forty-two quarters of the way in"),
        *(
            "au bout de 42 pour cent du roman",
            ". Après 42 %, elle",
            "; zwischen 42 % und 43 % zweifelt Anna",
            "; rond 42%",
        ),
        *(
            "på väg, vid 42 % av boken",
            "op 42% van het boek",
            "al 42% del romanzo",
            "w okolicach 42%",
            "; a partir del 42 %",
        ),
        *("(Progress 42%)", ". Progress 42%", ".\nProgress: 42%", ".\nLesefortschritt: 42 %", ".\nПрогресс: 42%"),
        *(
            ". В Kindle это позиция 342",
            "; on my Kindle it is 342",
            "; posizione 342",
            "在42%处",
            "全书42%左右",
            "책의 42% 지점",
        ),
        *("; 百分之42处", "; nach zweiundvierzig Vierteln des Buches", "; aux 42 quarts du roman"),
        *(
            "at Loc 4,421",
            "; l'emplacement 5 421",
            "(Loc. 1.421)",
            ". With 42% read, it",
            "by 42%",
            ". After 42% things change",
        ),
        *(
            "($42\\%$)",
            "\n* **42%** Ben leaves her",
            '{"progress": 0.42}',
            "\nbook_position: 0.42",
            "0.42 of the way in",
        ),
        *("; in the audiobook at 3:42:10", "; im Hörbuch bei 2 Std. 42 Min.", "; dans l'audiolivre, à la minute 42"),
        *("at 1:42:10", "in line 42 of this chapter", "; in Zeile 42 des Kapitels", "; im 42. Absatz dieses Kapitels"),
        *(
            "; on pages 42, 142, and 342 Ben writes",
            "on pages 42, 142, and 342 of the novel",
            "; see pp. 42, 142, or 342 of it",
        ),
        *("on page forty-zero-two", "; see page forty zero two"),
        *("; 42 pages later in the novel", "with 42 pages to go", "; 42 Seiten weiter", "; 42 procent van het boek"),
        *("; на 42 процентах романа", "; 小説の42割を過ぎ", "; w 42 procentach książki", ". कथा के 42 प्रतिशत पर"),
        *("; number 142 tells it", "in section 142", "; bet 142", "(sheet no. 142)", "; flies = 142", "in the 420s"),
        *(
            "; ch6 142 tells it",
            "(1897/142)",
            "; Seward 142 keeps a diary",
            "\n\n| Event | # |\n|--|--|\n| flies | 42 |\n",
        ),
        *("in the 42s", ", ages 142 and 144", "; odds of 144 to 142", "; it is 142 that tells it", "(ch. 6 142)"),
        *(
            ", 42, and weeps",
            "; at 42 Ben dies",
            "; in Hafenstraße 42",
            "; it won 42-41",
            "; flies come in 6, spiders in 42",
        ),
        *(" at number 42", "; no. 42", " on no. 42", " at position 42", " at line 42", " in item 42", " in note 42"),
        *(" in sentence 42", ". Number 42", ", it⁴²", ". 42 pages from the start she comes"),
        *("; the number at the foot is 42", "; le passage était le 42", "; el pasaje era el 42", "; c'était le 42"),
    ],
)
def test_no_licence_disguises_a_page(typed: str) -> None:
    shown = TypedPages(lambda number: False).remove(f"Ann leaves {typed}.")
    assert not re.search(r"42|forty|[0-9]42", shown), shown


@pytest.mark.parametrize(
    "piece", a_few(["[", "( ", "[(", "p. 1", "p. ii ", "on page ", "twenty ", "one-", "pages 1, ", "(p. 1, "], 5)
)
def test_a_text_gone_wild_takes_no_longer_than_another(piece: str) -> None:
    assert bare((piece * 20_000)[:20_000]) is not None


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (
            "There are three: 1) the cook, 2) the maid and 3) the doctor.",
            "There are three: 1) the cook, 2) the maid and 3) the doctor.",
        ),
        (
            "He works from 9 to 5. On a scale from 1 to 10, it is a 7.",
            "He works from 9 to 5. On a scale from 1 to 10, it is a 7.",
        ),
        ("It begins in June, 38) and ends.", "It begins in June) and ends."),
        ("It runs from 38 to 41.", "It runs from …."),
    ],
)
def test_a_number_of_an_item_or_a_scale_stays(typed: str, shown: str) -> None:
    assert TypedPages(lambda *_: False).remove(typed) == shown


@pytest.mark.parametrize(
    "typed",
    [
        *(
            "flies217",
            "flies_217",
            "217flies",
            "readme217please",
            "Wall206",
            "JE91",
            "(1.2.26)",
            "2-1-7",
            "0xd9",
            "0b11011001",
        ),
        *(
            "The 217 passage has it",
            "turn 217 leaves",
            "He eats it, 217 states",
            "217 of 400: he eats it",
            "- 176 Mirror",
        ),
        *(
            "C’est 217 qui le dit",
            "Tournez 217 feuillets",
            "Swipe to 217",
            "Between 333 and 335 he eats",
            "[1] Stoker 82",
        ),
        *("| # | Scene |\n|---|---|\n| 217 | the mirror |\n", "| Ann | Ben |\n|---|---|\n| sleeps | 217 |\n"),
        *("Collins insiste, trescientos setenta y cinco", "dos lámparas: osiemdziesiąt dziewięć, 217"),
        *("Trzy kobiety: osiemdziesiąt dziewięć", "It comes on page t w o - s i x", "See C C X X X"),
        *(
            "Told on 2·1·7",
            "ページは2・1・7です",
            "The number is one oh nine",
            "On page two—one—oh",
            "It's on page two oh",
        ),
        *(
            "The quarrel is in room 217",
            "Canto 217 of it is dark",
        ),
        *("Axe on page 〧〢", "Lydia laughs ᵖ²⁷", "争吵在壹佰叁拾柒", "Con l'assoluzione; si veda carta 26v"),
    ],
)
def test_a_number_that_nobody_told_goes_in_whatever_form(typed: str) -> None:
    shown = TypedPages(lambda number: False).remove(f"{typed}.")
    kept = re.search(
        r"217|82|91|176|206|33[35]|26|2-1-7|0x|0b|trescientos|osiem|壹|t w o|C C X|〧|²|2.1.7|\boh\b", shown
    )
    assert not kept, shown


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Number 13 is the answer.",
            "Lamp 37 is out of room 5.",
            "Step 7 comes next.",
            "The answer is 42.",
            "The result is 217.",
        ),
        *("mark-7f3a2c is yours.", "It is 3f2a9c17-1b2c.", "w0 w1 w2 w37 w214", "Q917 was asked.", "token37 reply214"),
    ],
)
def test_what_numbers_replies_and_things_or_tells_them_apart_stays(text: str) -> None:
    assert bare(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Of 9 boxes 4 are left, so 5 are missing. 3 × 4 = 12. 7 + 8 makes 15, and 15 more are 30.",
        "Call 911, 112 or 988. Ruf die 110 oder 112 an: ruf 112!",
        "MP3; R2D2; 3D; a run of 10km in 30min at 5kg.",
        "He bought 1,200 of them, 12.500 francs or 90,000 + 20,000 = 110,000.",
        "The novel has 27 chapters and 126 letters. It is a 400-page novel.",
        "| Who | Age | Boxes |\n|---|---|---|\n| Ann | 25 | 38 |\n",
        "1. Plug in\n2. Start\n3. Rinse\n",
        "W 1812 roku dwudziestu pięciu żołnierzy odeszło.",
        "Plan A I think is B C D and 3 km² of land.",
        "Kosztowała 320 złotych. 400 forintért vett szőlőt. Χρωστούσε 300 δραχμές.",
    ],
)
def test_sums_lists_and_what_says_what_it_is_stay(text: str) -> None:
    assert bare(text) == text


def test_between_two_commas_a_number_takes_one_of_them_along() -> None:
    pages = TypedPages(lambda *_: False)
    assert pages.remove("Agnes sings,") + pages.remove(" 15, and dies.", "Agnes sings,") == "Agnes sings, and dies."


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("You're on page 40, so I'll stop.", "You're on your page, so I'll stop."),
        ("You've read up to page 40.", "You've read up to your page."),
        ("You can read on page 40 that she dies.", "You can read in the book that she dies."),
    ],
)
def test_where_the_reader_is_becomes_their_page(typed: str, shown: str) -> None:
    assert without_typed_pages(typed) == shown


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("Ann\n53\n63\n437", "Ann\n…\n…\n…"),
        ("**Page**: 42\n**What**: a storm", "**A page**\n**What**: a storm"),
        ("*Page* 42 tells it.", "*A page* tells it."),
        ("To set it use /progress page 42.", "To set it use /progress."),
        ("Ann leaves (probably on p. 42).", "Ann leaves."),
        ("She leaves at page 42 of the book.", "She leaves in the book."),
        ("She leaves (p. 42, [s-1234567]).", "She leaves [s-1234567]."),
    ],
)
def test_what_remains_of_a_sentence_reads_well(typed: str, shown: str) -> None:
    assert bare(typed) == shown


@pytest.mark.parametrize(
    ("returned", "is_told"),
    [
        ('{"page": 1, "total_pages": 20, "results": [{"title": "Dracula", "year": 1931}]}', False),
        ('{"per_page": 20, "next_page": 2, "next": "https://example.org/films?page=2"}', False),
        ('{"current_page": 1, "page_count": 3, "prev_page": null}', False),
        (
            "This page was last edited in 2024. Page title: Dracula. See the Wikipedia page and 3 other web pages.",
            False,
        ),
        ("<page>38</page>", True),
        ("On this page 38 stands it.", True),
        ("Web page: see page 38.", True),
        ('{"page": "38"}', True),
        ('{"page": 38, "total_pages": 400}', True),
        ('{"page": 1, "text": "See page 38."}', True),
        *(('{"loc": 38}', True), ("see 38", True), ('{"bookmark": 38}', True), ("mirror, 38; wolves, 31", True)),
        *(('{"location": "Whitby", "degrees": 38}', False), ("I see 3 ships", False), ("391", False)),
    ],
)
def test_the_pages_of_a_list_of_results_are_no_books(returned: str, is_told: bool) -> None:
    assert tells_of_pages(without_paging(returned)) is is_told


@pytest.mark.parametrize("typed", ["Ул 217 нче биттә үлә.", "Ol 217 nji sahypada.", "217 орчим хуудсанд"])
def test_a_number_that_was_told_is_a_page_where_a_word_for_page_follows_with_another_between(typed: str) -> None:
    assert "217" not in TypedPages(lambda number: True).remove(typed)
