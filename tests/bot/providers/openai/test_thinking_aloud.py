import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.providers.openai.stream import CompletionAccumulator, ReasoningFilter
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
