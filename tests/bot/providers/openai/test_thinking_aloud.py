import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.providers.openai.stream import CompletionAccumulator
from bot.providers.streamed_text import ReasoningFilter, answer_in_thinking
from domain.tool_use import ChatResponse, TextChunk, ThinkingEnded


def shown(*pieces: str) -> str:
    through = ReasoningFilter()
    return "".join([*map(through.feed, pieces), through.end()])


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("<think>\nWho was it?</think>\n\nIt was Hobb.", "It was Hobb."),
        ("\n<think></think>Hobb.", "Hobb."),
        ("<think>never comes to an end", ""),
        ("<think>nothing to say</think>\n", ""),
        ("Hobb. <think>is a word here</think>", "Hobb. <think>is a word here</think>"),
        ("<thinker> is another", "<thinker> is another"),
        ("<think>Who?</think>\n<think>Hobb.</think>\nIt was Hobb.", "It was Hobb."),
        ("<think>Who?</think><th", "<th"),
        ("<thinking>Hm.</thinking>\nHobb.", "Hobb."),
        ("<reasoning>Hm.</reasoning>Hobb.", "Hobb."),
        ("<|channel>thought\nHm.\n<channel|>Hobb.", "Hobb."),
        ("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hobb.", "Hobb."),
        ("[THINK]Hm.[/THINK]Hobb.", "Hobb."),
        (f"<think>{'Hm. ' * 99}</think>Hobb.", "Hobb."),
        ("<th", "<th"),
        ("  ", "  "),
        ("", ""),
    ],
)
@given(data=st.data())
def test_thinking_at_the_beginning_is_left_out_however_it_arrives(written: str, said: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(written)), max_size=6)))
    pieces = [written[start:end] for start, end in zip([0, *cuts], [*cuts, len(written)], strict=True)]
    assert shown(*pieces) == said


@given(st.text(), st.text())
def test_any_other_reply_passes_whole(first: str, second: str) -> None:
    if not (first + second).lstrip().startswith("<think>"):
        assert shown(first, second) == first + second


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("It was Hobb.</s>", "It was Hobb."),
        ("It was Hobb. <|im_end|>\n", "It was Hobb. "),
        ("Was it Hobb?</think>It was.<|eot_id|>", "It was."),
        ("<|im_end|>", ""),
        ("It was <s>not</s> Hobb.", "It was <s>not</s> Hobb."),
        ("A <", "A <"),
        ("x <|im_", "x <|im_"),
    ],
)
@given(data=st.data())
def test_the_mark_of_the_end_is_left_out_however_it_arrives(written: str, said: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(written)), max_size=6)))
    accumulator, shown = CompletionAccumulator(), ""
    for start, end in zip([0, *cuts], [*cuts, len(written)], strict=True):
        for event in accumulator.read({"choices": [{"delta": {"content": written[start:end]}}]}):
            shown = "" if isinstance(event, ThinkingEnded) else shown + getattr(event, "text", "")
    *rest, response = accumulator.end()
    assert isinstance(response, ChatResponse)
    assert response.text == shown + "".join(event.text for event in rest if isinstance(event, TextChunk)) == said


ANSWERS = (
    "It was Hobb who took the lamp.",
    "Hobb took it: “I need it more than you,” he said.",
    "Hobb hat sie genommen.",
    '{"query": "lamp"}',
    "",
)
THOUGHTS = (
    "Okay, so Hobb took the lamp.",
    "The user is asking who took the lamp. It was Hobb.",
    "Who took the lamp? Let me look.",
    "Thinking Process:\n\n1.  **Analyze the Request:** who took the lamp",
    "We need to search the book.",
    "Hobb took it. I should cite the page.",
    "用户在问是谁拿走了灯。",
    "<think>Hobb.",
)


@pytest.mark.parametrize("thinking", [*ANSWERS, *THOUGHTS])
def test_what_follows_the_end_of_thinking_is_the_answer(thinking: str) -> None:
    for may_be_all in (True, False):
        assert answer_in_thinking(f"{thinking}</think>\n\nHobb did.", may_be_all=may_be_all) == "Hobb did."
        assert answer_in_thinking(f"<think>Hm.</think>{thinking}</think>", may_be_all=may_be_all) == ""


def test_all_may_be_the_answer_where_a_server_has_never_told_one_from_thinking_and_no_model_thinks_like_that() -> None:
    assert [answer_in_thinking(each, may_be_all=True) for each in ANSWERS] == [*ANSWERS]
    assert {answer_in_thinking(each, may_be_all=True) for each in THOUGHTS} == {""}
    assert {answer_in_thinking(each, may_be_all=False) for each in (*ANSWERS, *THOUGHTS)} == {""}
