"""How Discord says what is wrong with a request body (code 50035), and the small checks all bodies share."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.doubles.discord_api.errors import ApiError


@dataclass(frozen=True, slots=True)
class Problem:
    """`path` is dotted ("embeds.0.title")."""

    path: str
    code: str
    message: str


Problems = Iterator[Problem]


def length(text: str) -> int:
    """UTF-16 units: the strictest of the ways a limit in characters could be meant."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def within(path: str, text: object, most: int, least: int = 0) -> Problems:
    """`text` is a string of `least` to `most` characters."""
    if not isinstance(text, str):
        yield Problem(path, "STRING_TYPE_CONVERT", "Could not interpret value as string.")
    elif not least <= length(text) <= most:
        yield Problem(path, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")


def at_most(path: str, items: object, most: int) -> Problems:
    if not isinstance(items, list):
        yield Problem(path, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
    elif len(items) > most:
        yield Problem(path, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")


def required(path: str) -> Problem:
    return Problem(path, "BASE_TYPE_REQUIRED", "This field is required")


def invalid_form(problems: Iterable[Problem]) -> ApiError:
    """The refusal of a body with these problems, nested as Discord nests them."""
    errors: dict[str, Any] = {}
    for problem in problems:
        place = errors
        for key in problem.path.split("."):
            place = place.setdefault(key, {})
        place.setdefault("_errors", []).append({"code": problem.code, "message": problem.message})
    return ApiError(400, 50035, "Invalid Form Body", errors)
