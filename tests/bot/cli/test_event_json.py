"""Events as JSON: what was hidden is not in them."""

import json

from bot.cli.console import event_fields
from domain.errors import Worded
from domain.event import Answer, TextDelta, TurnFailed
from domain.spoilers.filter import hide


def test_covered_words_are_left_out_of_every_event_that_has_words_of_an_answer() -> None:
    text = f"He came. {hide('It was Lucian.')} It rained."
    for event in (TextDelta(text), Answer("t", text), TurnFailed("t", "timeout", "Too slow.", text, offer=text)):
        line = json.dumps(event_fields(event))
        assert "Lucian" not in line
        assert "He came. (hidden) It rained." in line
        assert json.loads(line)["event"] in ("text_delta", "answer", "turn_failed")


def test_a_failure_has_its_sentence() -> None:
    message = Worded("Please check {setting}.", setting=Worded("the key {name}", name="OPENAI_API_KEY"))
    told = json.loads(json.dumps(event_fields(TurnFailed("t", "api_key_missing", message, retry_after=2.0))))
    assert told == {
        "event": "turn_failed",
        "turn_id": "t",
        "code": "api_key_missing",
        "message": "Please check the key OPENAI_API_KEY.",
        "partial": "",
        "retry_after": 2.0,
        "offer": "",
        "citations": [],
    }


def test_a_failure_has_the_words_of_the_models_server() -> None:
    assert (
        event_fields(TurnFailed("t", "api_call_failed", "No.", said="The flux is out."))["said"] == "The flux is out."
    )
