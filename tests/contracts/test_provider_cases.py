"""The table of the guide says what is tried, and nothing that could be tried is left out."""

from tests.contracts.chat_providers import BENCHES, PROVIDERS
from tests.contracts.provider_cases import table, tried
from tests.doc_examples import DOCS

NEED_A_FAR_END = {"the socket closes", "rate limit", "overload", "bad key", "unknown model", "cut stream"}


def test_every_case_is_tried_wherever_it_can_happen() -> None:
    cases = tried()
    assert {name for name, providers in cases.items() if providers == set(PROVIDERS)} == {
        "plain",
        "streaming",
        "several tools at once",
        "tool errors",
        "empty tools",
        "long history",
        "cancellation in mid-stream",
    }
    assert {name for name, providers in cases.items() if providers == set(BENCHES)} == NEED_A_FAR_END


def test_the_guide_has_the_table_as_it_is() -> None:
    assert table() in (DOCS / "tool-development.md").read_text(encoding="utf-8")
