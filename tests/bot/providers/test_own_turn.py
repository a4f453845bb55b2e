"""What a model writes as somebody else is not shown, and what a reply tells of marks is."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.providers.streamed_text import OwnTurn


def shown(*pieces: str) -> str:
    turn = OwnTurn()
    return "".join([*map(turn.feed, pieces), turn.end()])


def in_pieces(text: str, cuts: list[int]) -> list[str]:
    ends = sorted(min(cut, len(text)) for cut in cuts)
    return [text[start:end] for start, end in pairwise([0, *ends, len(text)])]


ENDED = [
    "<|im_end|>\n<|im_start|>user\nWho else?<|im_end|>\n<|im_start|>assistant\nNobody.",
    "<|im_start|>user Who else?",
    "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nWho else?",
    "<end_of_turn>\n<start_of_turn>user\nWho else?",
    "<|end|>\n<|user|>\nWho else?",
    "</s>\n<|user|>\nWho else?",
    "</s><s>[INST] Who else? [/INST] Nobody.",
    "<｜end▁of▁sentence｜><｜User｜>Who else?",
    "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>Who else?",
    "<|im_end|>\nWho else?",
    "<turn|>\n<|turn>user\nWho else?",
    "<|observation|>{}",
    "<|im_start|>",
]
HEADINGS = ["### User:\nWho else?", "### Human: Who else?", "### Instruction:\nAsk.", "[INST] Who else?"]
TOLD = [
    "```\n<|im_start|>user\nHi.<|im_end|>\n[INST]\n### User:\n```\nThat is a prompt.",
    "~~~\n<|im_end|>\n~~~\nSo.",
    "A turn begins with `<|im_start|>user` and ends with `<|im_end|>`.\nThat is all.",
    "It says “<|im_start|>user”, “[INST]” and (<|eot_id|>\nin the next line).",
    "The token <|im_end|> ends a turn, and <|im_start|> begins one.",
    "Write ### User: there.\n## User: you\n### Users\n### User manual: page 3\n#### User:",
    "It was <s>not</s>\nHobb, nor <b>Tom</b></s><i>.</i>",
    "[Inst] a [link](https://a.example) <|x|> < [ # <| [|",
    "x <|im_",
    "Hobb.<|end|><|start|>assistant<|channel|>final<|message|>Hobb.",
]


@pytest.mark.parametrize("rest", ENDED)
@given(cuts=st.lists(st.integers(0, 80), max_size=8))
def test_what_a_model_writes_as_somebody_else_is_left_out_however_it_arrives(rest: str, cuts: list[int]) -> None:
    assert shown(*in_pieces(f"It was Hobb.{rest}", cuts)) == "It was Hobb."


@pytest.mark.parametrize("rest", HEADINGS)
@given(cuts=st.lists(st.integers(0, 40), max_size=8))
def test_a_turn_that_begins_with_a_line_is_left_out_however_it_arrives(rest: str, cuts: list[int]) -> None:
    assert shown(*in_pieces(f"It was Hobb.\n\n{rest}", cuts)) == "It was Hobb.\n\n"


@pytest.mark.parametrize("text", TOLD)
@given(cuts=st.lists(st.integers(0, 120), max_size=8))
def test_marks_of_which_a_reply_tells_are_shown_however_it_arrives(text: str, cuts: list[int]) -> None:
    assert shown(*in_pieces(text, cuts)) == text


@pytest.mark.parametrize("mark", ["<|im_start|>assistant", "<|start_header_id|>assistant<|end_header_id|>", "[/INST]"])
def test_the_mark_of_the_models_own_turn_in_front_of_a_reply_is_left_out(mark: str) -> None:
    assert shown("\n", mark, "\nIt was Hobb.<|im_end|>").strip() == "It was Hobb."
    assert shown("It was Hobb.", mark, "\nIt was Tom.") == "It was Hobb."


@example("<|im_end|>" + " " * 99, [3])
@example("<|im_start|>user", [99])
@given(st.text("<|[]#`im_end>\n su/INST", max_size=60), st.lists(st.integers(0, 60), max_size=8))
def test_how_a_reply_arrives_changes_nothing(text: str, cuts: list[int]) -> None:
    assert shown(*in_pieces(text, cuts)) == shown(text)
    assert text.startswith(shown(text)) or "[/INST]" in text


@given(st.text(st.characters(exclude_characters="<[#")), st.text(st.characters(exclude_characters="<[#")))
def test_any_other_reply_passes_whole_and_at_once(first: str, second: str) -> None:
    turn = OwnTurn()
    assert (turn.feed(first), turn.feed(second), turn.end()) == (first, second, "")
