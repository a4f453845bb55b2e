"""Settings, read once from the environment and from `.env`; `.env.example` lists and explains them all."""

import logging
import math
import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings.sources import DotenvType

from bot.mcp.addresses import secrets_of_servers
from bot.private import ADDRESSES, read_secret, secrets_in, secrets_of_stores
from domain.errors import SettingsError
from domain.turn.history import DEFAULT_MAX_MESSAGES

Provider = Literal["anthropic", "openai", "extractive"]

DEFAULT_MODELS: dict[Provider, str] = {
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-5.5",
    "extractive": "extractive",
}


LEAST_CONTEXT = 2_048
"""Tokens; with fewer, a model would get instructions and hardly a question."""
LEAST_REPLY = 16
"""Tokens; one sentence."""

DATABASE = "marginalia.db"
"""The database's name in DATA_DIR."""
FOUND_HERE = Path("data")
"""The folder in the working directory that is the data folder if it looks like one."""
FILE = ".env"
_PROJECT = Path(__file__).parents[1]


def default_data_dir() -> Path:
    """The data folder if DATA_DIR is not set.

    This is `data` in the working directory, if it exists and is ours or empty. Otherwise it is the user's own data
    folder, so that every program finds the same books wherever it is started. A `data` with only other things in it
    belongs to another program.

    Raises:
        SettingsError: the user has no folder, as one that a container makes up.
    """
    if FOUND_HERE.is_dir():
        names = {path.name for path in FOUND_HERE.iterdir()}
        if not names or names & {DATABASE, "books"}:
            return FOUND_HERE
    try:
        return user_data_path("marginalia", appauthor=False)
    except RuntimeError as error:
        raise SettingsError("This user has no home folder. Set DATA_DIR to a folder where the data may be.") from error


def is_own_folder() -> bool:
    """Whether the working directory belongs to this program: it has its code, or its data.

    The `.env` of any other folder may be that of another program with settings of the same names.
    """
    return Path().samefile(_PROJECT) or Path(FOUND_HERE, DATABASE).is_file()


class Settings(BaseSettings):
    """One attribute per setting; the environment takes precedence over `.env`. A blank value means the default."""

    model_config = SettingsConfigDict(env_file=FILE, env_ignore_empty=True, extra="ignore", frozen=True)

    discord_token: str = Field(default="", repr=False)
    discord_token_file: str = ""
    discord_api_url: str = "https://discord.com/api/v10"
    discord_gateway_url: str = ""
    shard_count: int = Field(default=0, ge=0, le=100_000)
    discord_guild_ids: Annotated[tuple[int, ...], NoDecode] = ()

    llm_provider: Literal["auto", "anthropic", "openai", "extractive"] = "auto"
    llm_model: str = ""
    llm_models: Annotated[tuple[str, ...], NoDecode] = ()
    anthropic_api_key: str = Field(default="", repr=False)
    anthropic_api_key_file: str = ""
    anthropic_base_url: str = Field(default="", repr=False)
    openai_api_key: str = Field(default="", repr=False)
    openai_api_key_file: str = ""
    openai_base_url: str = Field(default="", repr=False)
    llm_tools: Literal["auto", "on", "off"] = "auto"
    llm_context_tokens: int = Field(default=0, ge=0, le=20_000_000)
    llm_max_tokens: int = Field(default=0, ge=0, le=1_000_000)

    database_url: str = Field(default="", repr=False)
    data_dir: Path = Field(default_factory=default_data_dir)
    books_url: str = Field(default="", repr=False)
    books_cache_mb: int = Field(default=2_000, ge=1)
    max_upload_mb: int = Field(default=50, ge=1, le=2_000)
    gutendex_url: str = "https://gutendex.com"
    book_hosts: Annotated[tuple[str, ...], NoDecode] = (
        "gutenberg.org",
        "standardebooks.org",
        "archive.org",
        "wikisource.org",
    )
    max_books_per_shelf: int = Field(default=300, ge=0)
    max_shelf_mb: int = Field(default=1_000, ge=0)
    max_adds_per_hour: int = Field(default=20, ge=0)
    ocr_max_pages: int = Field(default=400, ge=0, le=5_000)
    ocr_max_minutes: int = Field(default=12, ge=1, le=600)
    ocr_languages: Annotated[tuple[str, ...], NoDecode] = ()
    max_conversations_per_day: int = Field(default=30, ge=0)
    max_turns_per_minute: int = Field(default=15, ge=0)

    keep_conversations_days: int = Field(default=0, ge=0, le=36_500)
    keep_tool_calls_days: int = Field(default=0, ge=0, le=36_500)
    keep_deleted_days: int = Field(default=7, ge=0, le=36_500)
    keep_left_servers_days: int = Field(default=30, ge=0, le=36_500)
    presence_days: int = Field(default=30, ge=0, le=36_500)

    history_messages: int = Field(default=DEFAULT_MAX_MESSAGES, ge=2, le=1_000)
    max_tool_rounds: int = Field(default=6, ge=1, le=50)
    tool_timeout_s: float = Field(default=30.0, gt=0, le=600)
    turn_timeout_s: float = Field(default=180.0, gt=0, le=3_600)
    daily_tokens_per_user: int = Field(default=0, ge=0)
    verbose_default: bool = False

    extra_tools: Annotated[tuple[Literal["clock", "weather"], ...], NoDecode] = ()
    open_meteo_url: str = "https://api.open-meteo.com"
    open_meteo_geocoding_url: str = "https://geocoding-api.open-meteo.com"
    mcp_servers: str = Field(default="", repr=False)
    mcp_trusted: Annotated[tuple[str, ...], NoDecode] = ()
    mcp_token: str = Field(default="", repr=False)

    metrics_port: int = Field(default=0, ge=0, le=65_535)
    metrics_host: str = "127.0.0.1"

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "WARNING"
    log_format: Literal["text", "json"] = "text"

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Drop blanks around values, which `docker run --env-file` keeps, and values of nothing else."""
        plain = {name: value.strip() if isinstance(value, str) else value for name, value in values.items()}
        return {name: value for name, value in plain.items() if value != "" or name in _OFF_WHEN_BLANK}

    @field_validator(
        "discord_guild_ids", "llm_models", "extra_tools", "mcp_trusted", "book_hosts", "ocr_languages", mode="before"
    )
    @classmethod
    def _split(cls, value: object) -> object:
        return value.replace(",", " ").split() if isinstance(value, str) else value

    @field_validator(
        "discord_api_url",
        "anthropic_base_url",
        "openai_base_url",
        "open_meteo_url",
        "open_meteo_geocoding_url",
        "gutendex_url",
    )
    @classmethod
    def _web_address(cls, value: str) -> str:
        address = value.rstrip("/")
        if address and not (address.startswith(("http://", "https://")) and urlsplit(address).hostname):
            raise ValueError("must be a web address that begins with http:// or https://")
        if urlsplit(address).query:
            raise ValueError("must have no question mark in it: the program adds to the end of the address")
        return address

    @field_validator("llm_context_tokens")
    @classmethod
    def _roomy(cls, value: int) -> int:
        if 0 < value < LEAST_CONTEXT:
            raise ValueError(f"must be 0 or at least {LEAST_CONTEXT:,}: instructions and passages need that much")
        return value

    @field_validator("llm_max_tokens")
    @classmethod
    def _within_context(cls, value: int, info: ValidationInfo) -> int:
        if 0 < value < LEAST_REPLY:
            raise ValueError(f"must be 0 or at least {LEAST_REPLY}: an answer needs that much")
        if value and value >= (info.data.get("llm_context_tokens") or math.inf):
            raise ValueError("must be less than LLM_CONTEXT_TOKENS: the question needs room, too")
        return value

    @field_validator("data_dir", "discord_token_file", "anthropic_api_key_file", "openai_api_key_file", mode="before")
    @classmethod
    def _at_home(cls, value: object) -> object:
        """A path whose `~` no shell has replaced, as in `.env`."""
        return os.path.expanduser(value) if isinstance(value, str) else value  # noqa: PTH111 - which raises

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """A blank value means the default; for settings where it means "off", special sources keep it."""
        assert isinstance(dotenv_settings, DotEnvSettingsSource)
        blank_in_file = _BlankInFile(cls, dotenv_settings.env_file)
        # a file that says nothing is not asked for each setting, which takes as long as the environment does
        from_file = (dotenv_settings, blank_in_file) if blank_in_file.env_vars else ()
        return init_settings, env_settings, _BlankInEnvironment(cls), *from_file

    @property
    def secrets(self) -> tuple[str, ...]:
        """Everything that must not appear in any log."""
        keys = (self.discord_token, self.anthropic_api_key, self.openai_api_key, self.mcp_token)
        addresses = "\n".join(str(getattr(self, name.lower())) for name in ADDRESSES)
        servers = secrets_of_servers(self.mcp_servers)
        return (*filter(None, keys), *secrets_in(addresses), *servers, *secrets_of_stores())

    @property
    def provider(self) -> Provider:
        """The provider to use: `auto` takes the first one that is set up; extractive needs nothing."""
        if self.llm_provider != "auto":
            return self.llm_provider
        if self.anthropic_api_key:
            return "anthropic"
        return "openai" if self.openai_api_key or self.openai_base_url else "extractive"

    @property
    def model(self) -> str:
        return self.llm_model or DEFAULT_MODELS[self.provider]

    def company_of(self, provider: str) -> str:
        """The company to whose servers a provider sends what people write; empty if a setting names another server."""
        own_server = getattr(self, f"{provider}_base_url", "")
        return "" if own_server else {"anthropic": "Anthropic", "openai": "OpenAI"}.get(provider, provider)

    @property
    def storage_url(self) -> str:
        """Where the database is: DATABASE_URL, else marginalia.db in DATA_DIR."""
        return self.database_url or f"sqlite:///{self.data_dir / DATABASE}"

    def check_shards(self) -> None:
        """Check that nodes can share the shards.

        Raises:
            SettingsError: SHARD_COUNT is set, but not the database that it needs.
        """
        if self.shard_count > 1 and not self.storage_url.startswith("postgres"):
            raise SettingsError("SHARD_COUNT needs PostgreSQL: set DATABASE_URL, as docs/scaling.md says.")


ALMOST_THE_SAME = 0.86
"""How near two names are to be confused, of 1: DISCORD_BOT_TOKEN and DISCORD_TOKEN, but not METRICS_PATH and
METRICS_PORT.
"""


def misspelt(settings: Settings) -> dict[str, str]:
    """Variables that are no settings, each with the setting that may have been meant, if that is not set itself.

    Some of them are other programs': nobody can tell DATABASE_URI of another from ours with a slip in it.
    """
    written = DotEnvSettingsSource(Settings, FILE).env_vars
    known = Settings.model_fields
    unknown = {name.lower() for name in (*os.environ, *written)}.difference(known)
    found = {name: get_close_matches(name, known, 1, ALMOST_THE_SAME) for name in sorted(unknown)}
    missing = known.keys() - settings.model_fields_set
    return {
        name.upper(): meant[0].upper()
        for name, meant in found.items()
        if missing.intersection(meant) and meant[0][0] == name[0]
    }


_OFF_WHEN_BLANK = ("gutendex_url",)


class _BlankInEnvironment(EnvSettingsSource):
    """The settings that a blank variable turns off."""

    def __init__(self, settings: type[BaseSettings]) -> None:
        super().__init__(settings, env_ignore_empty=False)

    def __call__(self) -> dict[str, Any]:
        return {name: "" for name in _OFF_WHEN_BLANK if self.env_vars.get(name) == ""}


class _BlankInFile(DotEnvSettingsSource):
    """The same for `.env`."""

    def __init__(self, settings: type[BaseSettings], file: DotenvType | None) -> None:
        super().__init__(settings, file, env_ignore_empty=False)

    def __call__(self) -> dict[str, Any]:
        return {name: "" for name in _OFF_WHEN_BLANK if self.env_vars.get(name) == ""}


class _ReportedOnce(logging.Filter):
    """Reports each line of `.env` that cannot be read in our words, and once: the file is read several times."""

    def __init__(self) -> None:
        super().__init__()
        self._reported: set[object] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        is_new = record.args not in self._reported
        self._reported.add(record.args)
        record.msg = "Line %s of .env is ignored: it is not NAME=value, or a quotation mark in it is not closed."
        return is_new


logging.getLogger("dotenv.main").addFilter(_ReportedOnce())


_IN_WORDS = {
    "int_parsing": "must be a whole number",
    "float_parsing": "must be a number",
    "bool_parsing": "must be true or false",
    "literal_error": "must be {expected}",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be {ge:.10g} or more",
    "less_than_equal": "must be {le:.10g} or less",
    "value_error": "{error}",
}
"""What is wrong with a value, by pydantic's type of the error."""


def _in_words(fault: Mapping[str, Any]) -> str:
    """What is wrong with which setting, and with which entry if it is a list."""
    name, *place = fault["loc"]
    words = _IN_WORDS.get(fault["type"])
    told = words.format(**fault.get("ctx", {})) if words else f"cannot be used: {fault['msg']}"
    return f"{str(name).upper()} {told}" + (f", not '{fault['input']}'" if place else "")


def load_settings(**overrides: object) -> Settings:
    """Read the settings; with `_env_file=None`, from the environment alone.

    Raises:
        SettingsError: a value is invalid, and the sentence names the setting; or `.env` or the folder cannot be read.
    """
    try:
        if overrides.get("_env_file", FILE) and Path(FILE).is_dir() and not any(Path(FILE).iterdir()):
            raise SettingsError(
                "The .env in the folder you are in is an empty folder, as Docker makes one where the file to mount is "
                "missing. Remove it, and put a file in its place."
            )
        settings = Settings(**overrides)  # type: ignore[arg-type]
    except PermissionError as error:
        raise SettingsError(
            f"{error.filename} cannot be read in the folder you are in ({error.strerror}). Make it readable, or start "
            "the program in another folder."
        ) from error
    except UnicodeDecodeError as error:
        raise SettingsError(
            "The file .env in the folder you are in is not UTF-8 text. Save it as UTF-8, or start the program in "
            "another folder."
        ) from error
    except ValidationError as error:
        first = {fault["loc"][0]: fault for fault in reversed(error.errors()) if fault["loc"]}
        faults = "; ".join(_in_words(fault) for fault in reversed(first.values()))
        raise SettingsError(f"A setting cannot be used: {faults}.") from error
    settings = settings.model_copy(update=_from_files(settings))
    for name in (*_KEYS, "mcp_token"):
        if not (getattr(settings, name).isascii() and getattr(settings, name).isprintable()):
            raise SettingsError(
                f"{name.upper()} has a line break or another character in it that no key can have. Copy it again, and "
                "nothing else."
            )
    return settings


_KEYS = ("discord_token", "anthropic_api_key", "openai_api_key")
"""The settings that are sent as they are, in a header, and that may be in a file."""


def _from_files(settings: Settings) -> dict[str, str]:
    """Secrets without a variable, read from the files that their settings name, or that systemd provides."""
    handed_over = os.environ.get("CREDENTIALS_DIRECTORY", "")
    found = {}
    for name in _KEYS:
        named = getattr(settings, f"{name}_file")
        credential = Path(handed_over, name) if handed_over else None
        path = Path(named) if named else credential
        if getattr(settings, name) or path is None or not (named or path.exists()):
            continue
        try:
            found[name] = read_secret(path)
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise SettingsError(f"{name.upper()}_FILE: {path} cannot be read ({reason}).") from error
        if not found[name]:
            raise SettingsError(f"{name.upper()}_FILE: {path} is empty. Put the key into it, and nothing else.")
    return found
