"""Every failure the program anticipates, sorted by subject.

Each error carries a `code` for programs and a `message`, a whole sentence for the person who has to act, which front
ends print as it is. Adapters translate the exceptions of SDKs, files and databases.

    MarginaliaError
    ├── BookError           a file or a book on the shelf
    ├── DownloadError       a book in a catalogue or on another host
    ├── ConversationError   a conversation
    ├── ClubError           a club and its plan
    ├── LLMError            the model or the connection to it
    ├── StorageError        the database or the disk
    └── SettingsError       the environment the program was started in
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from string import Formatter
from types import MappingProxyType
from typing import Protocol

LONGEST_QUOTED = 200
"""Characters of what people typed that a sentence repeats to them: as many as a title may have."""


def shortened(typed: str) -> str:
    """Text that somebody typed, shortened so that it can be repeated to them."""
    return typed if len(typed) <= LONGEST_QUOTED else f"{typed[: LONGEST_QUOTED - 1]}…"


class Worded(str):
    """A sentence with its {fields} filled in. It keeps both, so that front ends can say it in other languages.

    `template` is the sentence as it is in the catalogues. A field may be Worded too, and is translated with it; any
    other text is shortened, because people may have typed it.

    Raises:
        ValueError: the template has a placeholder that is not just the name of a field.
    """

    template: str
    fields: Mapping[str, object]

    def __new__(cls, template: str, /, **fields: object) -> "Worded":
        if not all(name.isidentifier() for _, name, _, _ in Formatter().parse(template) if name is not None):
            raise ValueError(f"a placeholder is no name in {template!r}")
        said = {name: shortened(value) if type(value) is str else value for name, value in fields.items()}
        worded = super().__new__(cls, template.format(**said))
        worded.template = template
        worded.fields = MappingProxyType(said)
        return worded

    def __deepcopy__(self, memo: dict[int, object]) -> "Worded":
        """Itself, as for other strings: `dataclasses.asdict` copies every value."""
        return self


def listed(parts: Sequence[str], unnamed: int = 0) -> str:
    """Parts of a sentence, joined by commas and, before the last, by "and"; `unnamed` others are only counted.

    Raises:
        ValueError: there are no parts.
    """
    if not parts:
        raise ValueError("there is nothing to list")
    *before, last = parts
    if unnamed:
        return Worded("{parts} and {number} more", parts=_with_commas(parts), number=unnamed)
    return Worded("{parts} and {part}", parts=_with_commas(before), part=last) if before else last


def _with_commas(parts: Sequence[str]) -> str:
    """Halves are joined: a text is translated as deep as it is nested, and a list from a setting may be long."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return Worded("{parts}, {part}", parts=_with_commas(parts[:middle]), part=_with_commas(parts[middle:]))


class Say(Protocol):
    """Says an English text in the reader's language; `values` fill its {placeholders}."""

    def __call__(self, text: str, /, **values: object) -> str: ...


def in_english(text: str, /, **values: object) -> str:
    """The text as it is, with its placeholders filled."""
    return text.format(**values)


class MarginaliaError(Exception):
    """Base of all anticipated failures; `message` is a sentence that says what to do."""

    def __init__(self, code: StrEnum, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class BookErrorCode(StrEnum):
    NOT_FOUND = "not_found"
    AMBIGUOUS = "ambiguous"
    PARSE_FAILED = "parse_failed"
    UNSUPPORTED_FORMAT = "unsupported_format"
    ALREADY_EXISTS = "already_exists"
    INVALID_STATE = "invalid_state"
    ENCRYPTED = "encrypted"
    DRM_PROTECTED = "drm_protected"
    NO_TEXT = "no_text"
    TOO_LARGE = "too_large"
    TIMED_OUT = "timed_out"
    SHELF_FULL = "shelf_full"


class BookError(MarginaliaError):
    """A file cannot become a book, or a book is unsuitable for what was asked."""


class DownloadErrorCode(StrEnum):
    NOT_ALLOWED = "not_allowed"
    NOT_FOUND = "not_found"
    NOT_A_BOOK = "not_a_book"
    UNREACHABLE = "unreachable"
    TOO_LARGE = "too_large"
    TIMED_OUT = "timed_out"
    CATALOGUE_DOWN = "catalogue_down"


class DownloadError(MarginaliaError):
    """A catalogue cannot be searched, or a file cannot or must not be downloaded."""


class ConversationErrorCode(StrEnum):
    NOT_FOUND = "not_found"
    INVALID_STATE = "invalid_state"


class ConversationError(MarginaliaError):
    """A conversation does not exist or cannot do what was asked."""


class ClubErrorCode(StrEnum):
    NO_CLUB = "no_club"
    NO_SECTION = "no_section"
    ALREADY_RUNNING = "already_running"
    INVALID_PLAN = "invalid_plan"


class ClubError(MarginaliaError):
    """A club does not exist, or its plan is impossible or has no such section."""


class LLMErrorCode(StrEnum):
    API_CALL_FAILED = "api_call_failed"
    API_KEY_MISSING = "api_key_missing"
    UNKNOWN_MODEL = "unknown_model"
    UNKNOWN_ADDRESS = "unknown_address"
    OUT_OF_CREDIT = "out_of_credit"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    NOT_LOADED = "not_loaded"
    TIMEOUT = "timeout"
    CONNECTION_LOST = "connection_lost"
    CONTEXT_EXCEEDED = "context_exceeded"
    REFUSED = "refused"
    EMPTY_REPLY = "empty_reply"
    UNSUPPORTED_FEATURE = "unsupported_feature"
    DAILY_LIMIT = "daily_limit"
    SERVER_LIMIT = "server_limit"
    TURN_LIMIT = "turn_limit"


class LLMError(MarginaliaError):
    """The model gave no usable answer.

    `retry_after` is the provider's advice in seconds, if any. If a request was too long, `window` is the number of
    tokens the provider says it accepts, and `counted` the number it has counted (0: it does not say). `said` is the
    provider's own message, shortened and without secrets: for the operator, not for readers.
    """

    def __init__(
        self,
        code: LLMErrorCode,
        message: str,
        *,
        retry_after: float | None = None,
        window: int = 0,
        counted: int = 0,
    ) -> None:
        super().__init__(code, message)
        self.retry_after = retry_after
        self.window = window
        self.counted = counted
        self.said = ""


class StorageErrorCode(StrEnum):
    UNREACHABLE = "unreachable"
    """The database does not answer just now: what was asked of it can be done later."""
    DB_CORRUPTED = "db_corrupted"
    MIGRATION_FAILED = "migration_failed"
    WRITE_FAILED = "write_failed"
    NOT_FOUND = "not_found"
    IN_USE = "in_use"
    LEASE_LOST = "lease_lost"


class StorageError(MarginaliaError):
    """The database or the disk refused."""


class SettingsErrorCode(StrEnum):
    INVALID = "invalid"


class SettingsError(MarginaliaError):
    """A setting has a value the program cannot work with."""

    def __init__(self, message: str) -> None:
        super().__init__(SettingsErrorCode.INVALID, message)
