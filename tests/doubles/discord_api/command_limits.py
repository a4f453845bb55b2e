"""Discord's limits on application commands and on autocomplete choices."""

import re

from tests.doubles.discord_api.entities import Json
from tests.doubles.discord_api.problems import Problem, Problems, at_most, length, within

CHAT_INPUT = 1
SUB_COMMAND, SUB_COMMAND_GROUP, STRING, INTEGER, NUMBER = 1, 2, 3, 4, 10
COMMANDS = {1: 100, 2: 15, 3: 15}
OPTIONS = CHOICES = 25
TOTAL = 8000

LOCALES = frozenset(
    {
        *("id", "da", "de", "en-GB", "en-US", "es-ES", "es-419", "fr", "hr", "it", "lt", "hu", "nl", "no", "pl"),
        *("pt-BR", "ro", "fi", "sv-SE", "vi", "tr", "cs", "el", "bg", "ru", "uk", "hi", "th", "zh-CN", "ja"),
        *("zh-TW", "ko"),
    }
)
_NAME = re.compile(r"[-_'\w]{1,32}", re.UNICODE)


def command_list_problems(commands: list[Json]) -> Problems:
    """All commands of one scope together."""
    for kind, most in COMMANDS.items():
        if sum(command.get("type", CHAT_INPUT) == kind for command in commands) > most:
            yield Problem("_", "MAX_COMMANDS", f"At most {most} commands of type {kind}.")
    keys = [(command.get("type", CHAT_INPUT), command.get("name")) for command in commands]
    if len(set(keys)) < len(keys):
        yield Problem("_", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
    for number, command in enumerate(commands):
        yield from command_problems(str(number), command)


def command_problems(path: str, command: Json) -> Problems:
    if command.get("type", CHAT_INPUT) != CHAT_INPUT:
        yield from within(f"{path}.name", command.get("name"), 32, 1)
        return
    yield from _names(path, command)
    yield from _options(path, command.get("options") or [], depth=0)
    if _size(command) > TOTAL:
        yield Problem(path, "COMMAND_TOO_LARGE", f"Names, descriptions and values together exceed {TOTAL}.")
    bits = command.get("default_member_permissions")
    if bits is not None and not str(bits).isdigit():
        yield Problem(f"{path}.default_member_permissions", "NUMBER_TYPE_COERCE", "Not a bit set.")


def choice_problems(path: str, choices: object, kind: int | None = None) -> Problems:
    """Choices of an option or of an autocomplete answer."""
    yield from at_most(path, choices, CHOICES)
    for number, choice in enumerate(choices if isinstance(choices, list) else []):
        where = f"{path}.{number}"
        yield from within(f"{where}.name", choice.get("name"), 100, 1)
        yield from _localised(f"{where}.name", choice.get("name_localizations"), 100)
        value = choice.get("value")
        if isinstance(value, str):
            yield from within(f"{where}.value", value, 100)
        elif kind == STRING or isinstance(value, bool) or not isinstance(value, int | float):
            yield Problem(f"{where}.value", "TYPE_CONVERT", "The value does not fit the option.")


def _names(path: str, node: Json) -> Problems:
    yield from _name(f"{path}.name", node.get("name"))
    yield from within(f"{path}.description", node.get("description"), 100, 1)
    for locale, name in (node.get("name_localizations") or {}).items():
        yield from _name(f"{path}.name_localizations.{locale}", name)
    yield from _localised(f"{path}.name", node.get("name_localizations"), 32)
    yield from _localised(f"{path}.description", node.get("description_localizations"), 100)


def _name(path: str, name: object) -> Problems:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name != name.lower():
        yield Problem(path, "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")


def _localised(path: str, texts: dict[str, str] | None, most: int) -> Problems:
    for locale, text in (texts or {}).items():
        if locale not in LOCALES:
            yield Problem(f"{path}_localizations", "ENUM_TYPE_COERCE", f"Unknown locale {locale}")
        yield from within(f"{path}_localizations.{locale}", text, most, 1)


def _options(path: str, options: list[Json], depth: int) -> Problems:
    yield from at_most(f"{path}.options", options, OPTIONS)
    names = [option.get("name") for option in options]
    if len(set(names)) < len(names):
        yield Problem(f"{path}.options", "APPLICATION_COMMAND_OPTIONS_NAME_NOT_UNIQUE", "Option names must be unique")
    needed = [bool(option.get("required")) for option in options]
    if needed != sorted(needed, reverse=True):
        yield Problem(f"{path}.options", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options come first")
    for number, option in enumerate(options):
        yield from _option(f"{path}.options.{number}", option, depth)


def _option(path: str, option: Json, depth: int) -> Problems:
    yield from _names(path, option)
    kind = option.get("type")
    if kind in (SUB_COMMAND, SUB_COMMAND_GROUP):
        if depth > 1 or (kind == SUB_COMMAND_GROUP and depth > 0):
            yield Problem(f"{path}.type", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Nested too deep")
        yield from _options(path, option.get("options") or [], depth + 1)
        return
    yield from choice_problems(f"{path}.choices", option.get("choices") or [], kind)
    if option.get("autocomplete") and (option.get("choices") or kind not in (STRING, INTEGER, NUMBER)):
        yield Problem(f"{path}.autocomplete", "APPLICATION_COMMAND_AUTOCOMPLETE_INVALID", "Not with choices")
    if not 0 <= (option.get("min_length") or 0) <= (option.get("max_length") or 6000) <= 6000:
        yield Problem(f"{path}.max_length", "NUMBER_TYPE_MAX", "Lengths are 0 to 6000, the least first.")


def _size(node: Json) -> int:
    total = max(map(length, [node.get("name", ""), *(node.get("name_localizations") or {}).values()]))
    described = [node.get("description", ""), *(node.get("description_localizations") or {}).values()]
    total += max(map(length, described))
    for choice in node.get("choices") or []:
        total += length(choice["name"]) + (length(choice["value"]) if isinstance(choice["value"], str) else 0)
    return total + sum(_size(option) for option in node.get("options") or [])
