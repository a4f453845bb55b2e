"""A text of Aozora Bunko reads as its printed book does: no readings within words, no notes, letters for notes."""

from bot.parsers.text.parser import read
from tests.bot.parsers.invariants import check

_LEGEND = (
    "吾輩は猫である\n夏目漱石\n\n-------------------------------------------------------\n【テキスト中に現れる記号について】\n\n"
    "《》：ルビ\n（例）吾輩《わがはい》\n-------------------------------------------------------\n\n"
)
_PARAGRAPH = (
    "　どこで生れたかとんと見当《けんとう》がつかぬ。何でも薄暗いじめじめした所で泣いていた事だけは記憶している。\n"
    * 20
)
_FOOTER = "\n底本：「夏目漱石全集1」ちくま文庫\n入力：柴田卓治\n"


def test_readings_notes_and_letters_outside_the_character_set() -> None:
    letters = "※［＃「陷のつくり＋炎」、第3水準1-87-64］、※［＃「土へん」、U+5780、1-2］"
    line = f"　一｜疋《ぴき》の猫［＃「猫」に傍点］と{letters}が※［＃「何か」］。\n"
    book = check(read((_LEGEND + line + _PARAGRAPH + _FOOTER).encode("shift_jis"), "a.txt"))
    assert "一疋の猫と燄、垀が※。" in book.text
    for mark in ("《", "｜", "［＃", "記号について", "底本"):
        assert mark not in book.text
    assert (book.title, book.author, book.language) == ("吾輩は猫である", "夏目漱石", "ja")


def test_readings_are_kept_apart_from_the_text() -> None:
    line = "　｜吾輩《ワガハイ》は毎晩｜書斎《しょさい》で食《た》べていた。\n"
    book = read((_LEGEND + line + _PARAGRAPH).encode("shift_jis"), "a.txt")
    assert {("わがはい", "吾輩"), ("しょさい", "書斎"), ("たべ", "食べ"), ("たべて", "食べて")} <= {*book.readings}
    assert "た" not in dict(book.readings)


def test_notes_name_the_headings() -> None:
    chapters = "".join(f"［＃８字下げ］{n}［＃「{n}」は中見出し］\n\n{_PARAGRAPH}" for n in "一二三")
    book = check(read((_LEGEND + chapters).encode("euc_jp"), "a.txt"))
    assert len(book.chapters) == 3
    assert [book.text[chapter.start] for chapter in book.chapters] == [*"一二三"]


def test_titles_in_chinese_brackets_stay() -> None:
    text = "故曰《石头记》一书也。又曰《红楼梦》，又曰《风月宝鉴》。\n" * 20
    assert "《石头记》" in read(text.encode("gb18030"), "a.txt").text


def test_marks_that_never_end_take_no_longer_than_their_length() -> None:
    read((_LEGEND + "［＃" * 100_000 + "《" * 100_000 + "※［＃、" * 50_000).encode(), "a.txt")
