"""The double's own eyes: each of Discord's limits is seen when it is passed, and not before."""

from typing import Any

import pytest

from tests.doubles.discord_api.command_limits import choice_problems, command_list_problems
from tests.doubles.discord_api.component_limits import component_problems, modal_problems
from tests.doubles.discord_api.message_limits import message_problems
from tests.doubles.discord_api.problems import Problem, invalid_form

Json = dict[str, Any]


def button(**parts: Any) -> Json:
    return {"type": 2, "style": 1, "label": "Go", "custom_id": "go"} | parts


def row(*parts: Json) -> Json:
    return {"type": 1, "components": list(parts)}


def command(**parts: Any) -> Json:
    return {"name": "books", "description": "Books"} | parts


def option(**parts: Any) -> Json:
    return {"type": 3, "name": "book", "description": "Which"} | parts


def embed(**parts: Any) -> Json:
    return {"description": "x"} | parts


@pytest.mark.parametrize(
    ("fits", "breaks"),
    [
        ({"content": "x" * 2000}, {"content": "x" * 2001}),
        ({"content": "🐇" * 1000}, {"content": "🐇" * 1001}),
        ({"nonce": "n" * 25}, {"nonce": "n" * 26}),
        ({"embeds": [embed()] * 10}, {"embeds": [embed()] * 11}),
        ({"embeds": [embed(title="t" * 256)]}, {"embeds": [embed(title="t" * 257)]}),
        ({"embeds": [embed(description="d" * 4096)]}, {"embeds": [embed(description="d" * 4097)]}),
        ({"embeds": [embed(description="d" * 3000)] * 2}, {"embeds": [embed(description="d" * 3001)] * 2}),
        ({"embeds": [embed()]}, {"embeds": [{}]}),
        (
            {"embeds": [embed(fields=[{"name": "n", "value": "v"}] * 25)]},
            {"embeds": [embed(fields=[{"name": "n", "value": "v"}] * 26)]},
        ),
        (
            {"embeds": [embed(fields=[{"name": "n", "value": "v" * 1024}])]},
            {"embeds": [embed(fields=[{"name": "n", "value": ""}])]},
        ),
        ({"embeds": [embed(footer={"text": "f" * 2048})]}, {"embeds": [embed(footer={"text": "f" * 2049})]}),
        ({"attachments": [{"id": "7"}]}, {"attachments": [{"id": 0, "filename": "a.txt"}]}),
    ],
)
def test_messages(fits: Json, breaks: Json) -> None:
    assert list(message_problems(fits, {})) == []
    assert list(message_problems(breaks, {}))


def test_files() -> None:
    assert list(message_problems({}, {"files[0]": bytes(10 * 1024 * 1024)})) == []
    assert list(message_problems({}, {"files[0]": bytes(10 * 1024 * 1024 + 1)}))
    assert list(message_problems({}, {f"files[{number}]": b"" for number in range(11)}))


@pytest.mark.parametrize(
    ("fits", "breaks"),
    [
        ([row(button())], [row(button(label="x" * 81))]),
        ([row(button(custom_id="x" * 100))], [row(button(custom_id="x" * 101))]),
        ([row(button(label=None, emoji={"name": "🐇"}))], [row(button(label=""))]),
        (
            [row(*(button(custom_id=str(number)) for number in range(5)))],
            [row(*(button(custom_id=str(number)) for number in range(6)))],
        ),
        ([row(button(custom_id=str(number))) for number in range(5)], [row(button())] * 6),
        ([row(button()), row(button(custom_id="b"))], [row(button()), row(button())]),
        (
            [row({"type": 3, "custom_id": "m", "options": [{"label": "a", "value": "a"}]})],
            [row({"type": 3, "custom_id": "m", "options": []})],
        ),
        ([], [row()]),
        ([], [{"type": 17, "components": []}]),
    ],
)
def test_components(fits: list[Json], breaks: list[Json]) -> None:
    assert list(component_problems("components", fits)) == []
    assert list(component_problems("components", breaks))


def test_modals() -> None:
    field = {"type": 4, "custom_id": "a", "label": "A", "style": 1}
    modal = {"title": "T" * 45, "custom_id": "m", "components": [row(field)]}
    assert list(modal_problems(modal)) == []
    assert list(modal_problems(modal | {"title": "T" * 46}))
    assert list(modal_problems(modal | {"components": []}))
    assert list(modal_problems(modal | {"components": [row(field | {"label": "x" * 46})]}))


@pytest.mark.parametrize(
    ("fits", "breaks"),
    [
        (command(name="büch-er"), command(name="Books")),
        (command(name="x" * 32), command(name="x" * 33)),
        (command(description="x" * 100), command(description="")),
        (command(name_localizations={"de": "bücher"}), command(name_localizations={"xx": "books"})),
        (command(description_localizations={"de": "x"}), command(description_localizations={"de": "x" * 101})),
        (
            command(options=[option(name=f"o{number}") for number in range(25)]),
            command(options=[option(name=f"o{number}") for number in range(26)]),
        ),
        (
            command(options=[option(required=True), option(name="b")]),
            command(options=[option(), option(name="b", required=True)]),
        ),
        (command(options=[option(), option(name="b")]), command(options=[option(), option()])),
        (
            command(options=[option(autocomplete=True)]),
            command(options=[option(autocomplete=True, choices=[{"name": "a", "value": "a"}])]),
        ),
        (command(options=[option(max_length=6000)]), command(options=[option(min_length=9, max_length=5)])),
        (
            command(options=[{"type": 2, "name": "g", "description": "G", "options": [option(type=1)]}]),
            command(options=[{"type": 1, "name": "s", "description": "S", "options": [option(type=2)]}]),
        ),
        (command(default_member_permissions="32"), command(default_member_permissions="manage")),
    ],
)
def test_commands(fits: Json, breaks: Json) -> None:
    assert list(command_list_problems([fits])) == []
    assert list(command_list_problems([breaks]))


def test_a_command_is_not_too_large_as_a_whole() -> None:
    choices = [{"name": f"{number:x>100}", "value": f"{number:x>100}"} for number in range(25)]
    assert list(command_list_problems([command(options=[option(choices=choices)])])) == []
    assert list(command_list_problems([command(options=[option(choices=choices), option(name="b", choices=choices)])]))


def test_commands_together() -> None:
    assert list(command_list_problems([command(name=f"c{number}") for number in range(100)])) == []
    assert list(command_list_problems([command(name=f"c{number}") for number in range(101)]))
    assert list(command_list_problems([command(), command()]))


def test_choices() -> None:
    assert list(choice_problems("choices", [{"name": "a", "value": "v"}] * 25)) == []
    assert list(choice_problems("choices", [{"name": "a", "value": "v"}] * 26))
    assert list(choice_problems("choices", [{"name": "", "value": "v"}]))
    assert list(choice_problems("choices", [{"name": "a", "value": "v" * 101}]))


def test_problems_are_nested_as_discord_nests_them() -> None:
    error = invalid_form([Problem("embeds.0.title", "CODE", "too long")])
    assert error.errors == {"embeds": {"0": {"title": {"_errors": [{"code": "CODE", "message": "too long"}]}}}}
