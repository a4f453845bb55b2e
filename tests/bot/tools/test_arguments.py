"""Arguments come from a model: what can be understood is taken, the rest is refused in words the model can use."""

from typing import Any

import pytest

from bot.tools.results import define, text_argument, text_arguments, whole_argument


def test_a_definition_takes_its_parameters_and_no_others() -> None:
    schema = define("x", "Do x.", {"a": {"type": "string"}}, "a").parameters
    assert schema["required"] == ["a"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(("value", "taken"), [(" lamp ", "lamp"), (12, "12"), (1.5, "1.5")])
def test_a_text_may_come_as_a_number(value: object, taken: str) -> None:
    assert text_argument({"x": value}, "x") == taken


@pytest.mark.parametrize("value", [None, "", "  ", True, ["a"], {"a": 1}])
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="x must be a text"):
        text_argument({"x": value}, "x")


@pytest.mark.parametrize(("value", "taken"), [(None, []), ("a", ["a"]), (["a", " ", "b "], ["a", "b"])])
def test_a_list_of_texts_may_come_as_one(value: Any, taken: list[str]) -> None:
    assert text_arguments({"x": value}, "x") == taken


@pytest.mark.parametrize("value", [{"a": 1}, [1, 2], 7])
def test_what_is_no_list_of_texts_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="x must be a list of texts"):
        text_arguments({"x": value}, "x")


@pytest.mark.parametrize(
    ("args", "taken"),
    [({}, 5), ({"x": None}, 5), ({"x": 7}, 7), ({"x": "7"}, 7), ({"x": 7.0}, 7), ({"x": 99}, 20), ({"x": -3}, 1)],
)
def test_a_number_is_brought_within_its_limits(args: dict[str, Any], taken: int) -> None:
    assert whole_argument(args, "x", 5, 1, 20) == taken


@pytest.mark.parametrize("value", ["five", True, 1.5, float("inf"), "²", "--1", []])
def test_what_is_no_whole_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="x must be a whole number from 1 to 20"):
        whole_argument({"x": value}, "x", 5, 1, 20)
