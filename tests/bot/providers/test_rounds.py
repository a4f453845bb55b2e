from domain.chat import PromptMessage, repair_history
from domain.tool_use import ToolInvocation
from tests.bot.providers.talk import result, system, user


def calling(*ids: str) -> PromptMessage:
    return PromptMessage("assistant", "", tool_invocations=[ToolInvocation("search_book", {}, name) for name in ids])


def test_a_whole_history_is_left_as_it_is() -> None:
    talk = [system(), user("?"), calling("a", "b"), result("b", "2"), result("a", "1"), user("!")]
    assert list(repair_history(talk)) == talk


def test_missing_results_follow_those_that_are_there() -> None:
    talk = list(repair_history([user("?"), calling("a", "b"), result("b", "2"), user("!"), calling("c")]))
    ids = [message.tool_use_id for message in talk]
    assert ids == [None, None, "b", "a", None, None, "c"]
    assert [message.is_error for message in talk] == [False, False, False, True, False, False, True]
