"""Discord's limits on buttons, menus and modals."""

from collections import Counter

from tests.doubles.discord_api.entities import Json
from tests.doubles.discord_api.problems import Problem, Problems, at_most, required, within

ROW, BUTTON, STRING_SELECT, TEXT_INPUT, LABEL = 1, 2, 3, 4, 18
LINK_STYLE, PREMIUM_STYLE = 5, 6
ROWS = 5
ROW_WIDTH = 5


def component_problems(path: str, rows: object) -> Problems:
    """Rows of a message."""
    yield from at_most(path, rows, ROWS)
    if not isinstance(rows, list):
        return
    for number, row in enumerate(rows):
        yield from _row(f"{path}.{number}", row)
    yield from _repeated(path, [part for row in rows for part in row.get("components", [])])


def modal_problems(modal: Json) -> Problems:
    yield from within("data.title", modal.get("title"), 45, 1)
    yield from within("data.custom_id", modal.get("custom_id"), 100, 1)
    rows = modal.get("components", [])
    if not 1 <= len(rows) <= 5:
        yield Problem("data.components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
    for number, row in enumerate(rows):
        yield from _modal_row(f"data.components.{number}", row)
    yield from _repeated("data.components", [part for row in rows for part in modal_parts(row)])


def modal_parts(row: Json) -> list[Json]:
    """The inputs in a row of a modal, be it an action row or a label."""
    return [row["component"]] if row.get("type") == LABEL else list(row.get("components", []))


def _row(path: str, row: Json) -> Problems:
    if row.get("type") != ROW:
        yield Problem(f"{path}.type", "UNION_TYPE_CHOICES", "This double knows action rows alone.")
        return
    parts = row.get("components", [])
    if not 1 <= len(parts) <= ROW_WIDTH:
        yield Problem(f"{path}.components", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {ROW_WIDTH} in length.")
    for number, part in enumerate(parts):
        where = f"{path}.components.{number}"
        if part.get("type") == BUTTON:
            yield from _button(where, part)
        elif part.get("type") == STRING_SELECT:
            yield from _select(where, part)
            if len(parts) > 1:
                yield Problem(where, "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "A menu fills its row.")
        else:
            yield Problem(f"{where}.type", "UNION_TYPE_CHOICES", "Not a component of a message.")


def _button(path: str, button: Json) -> Problems:
    if button.get("style") not in range(1, 7):
        yield Problem(f"{path}.style", "BASE_TYPE_CHOICES", "Value must be one of 1 to 6.")
    if "label" in button and button["label"] is not None:
        yield from within(f"{path}.label", button["label"], 80)
    if not button.get("label") and not button.get("emoji"):
        yield required(f"{path}.label")
    if button.get("style") == LINK_STYLE:
        yield from within(f"{path}.url", button.get("url"), 512, 1)
    elif button.get("style") != PREMIUM_STYLE:
        yield from within(f"{path}.custom_id", button.get("custom_id"), 100, 1)


def _select(path: str, menu: Json) -> Problems:
    yield from within(f"{path}.custom_id", menu.get("custom_id"), 100, 1)
    if menu.get("placeholder"):
        yield from within(f"{path}.placeholder", menu["placeholder"], 150)
    options = menu.get("options", [])
    if not 1 <= len(options) <= 25:
        yield Problem(f"{path}.options", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 25 in length.")
    for number, option in enumerate(options):
        where = f"{path}.options.{number}"
        yield from within(f"{where}.label", option.get("label"), 100, 1)
        yield from within(f"{where}.value", option.get("value"), 100, 1)
        if option.get("description"):
            yield from within(f"{where}.description", option["description"], 100)
    repeated = [value for value, count in Counter(option.get("value") for option in options).items() if count > 1]
    if repeated:
        yield Problem(f"{path}.options", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", f"Repeated: {repeated}")


def _modal_row(path: str, row: Json) -> Problems:
    if row.get("type") not in (ROW, LABEL):
        yield Problem(f"{path}.type", "UNION_TYPE_CHOICES", "A modal holds action rows and labels.")
        return
    if row["type"] == LABEL:
        yield from within(f"{path}.label", row.get("label"), 45, 1)
        if row.get("description"):
            yield from within(f"{path}.description", row["description"], 100)
    for part in modal_parts(row):
        if part.get("type") == TEXT_INPUT:
            yield from _text_input(path, part, labelled=row["type"] == LABEL)
        elif part.get("type") == STRING_SELECT:
            yield from _select(path, part)
        else:
            yield Problem(f"{path}.type", "UNION_TYPE_CHOICES", "Not a component of a modal.")


def _text_input(path: str, field: Json, *, labelled: bool) -> Problems:
    yield from within(f"{path}.custom_id", field.get("custom_id"), 100, 1)
    if not labelled:
        yield from within(f"{path}.label", field.get("label"), 45, 1)
    if field.get("placeholder"):
        yield from within(f"{path}.placeholder", field["placeholder"], 100)
    if field.get("value"):
        yield from within(f"{path}.value", field["value"], field.get("max_length") or 4000)
    if not 0 <= (field.get("min_length") or 0) <= (field.get("max_length") or 4000) <= 4000:
        yield Problem(f"{path}.max_length", "NUMBER_TYPE_MAX", "Lengths are 0 to 4000, the least first.")


def _repeated(path: str, parts: list[Json]) -> Problems:
    names = Counter(part["custom_id"] for part in parts if "custom_id" in part)
    for name, count in names.items():
        if count > 1:
            yield Problem(path, "COMPONENT_CUSTOM_ID_DUPLICATED", f"Component custom id cannot be duplicated: {name}")
