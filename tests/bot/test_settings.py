"""Settings come from the environment, and a bad one is a sentence."""

import os
from pathlib import Path
from typing import NoReturn

import pytest
from platformdirs import user_data_path

from bot.settings import Settings, is_own_folder, load_settings
from domain.errors import SettingsError


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)


def test_with_nothing_set_the_built_in_answerer_is_used() -> None:
    settings = load_settings()
    assert (settings.provider, settings.history_messages) == ("extractive", 20)


def test_with_nothing_set_the_books_are_in_the_users_own_folder_from_wherever_it_is_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = load_settings().data_dir
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert load_settings().data_dir == first == user_data_path("marginalia", appauthor=False)
    assert load_settings().storage_url == f"sqlite:///{first}/marginalia.db"


def test_a_user_that_a_container_makes_up_needs_a_data_dir(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> NoReturn:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", unknown)
    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SettingsError, match="Set DATA_DIR"):
        load_settings()
    monkeypatch.setenv("DATA_DIR", "books of mine")
    assert load_settings().data_dir == Path("books of mine")


@pytest.mark.parametrize("content", [None, "marginalia.db", "books/1.book"])
def test_a_folder_data_that_is_there_is_used(content: str | None) -> None:
    Path("data").mkdir()
    if content:
        Path("data", content).parent.mkdir(exist_ok=True)
        Path("data", content).touch()
    assert load_settings().storage_url == "sqlite:///data/marginalia.db"


def test_a_folder_data_of_another_program_is_left_alone() -> None:
    Path("data").mkdir()
    Path("data", "measurements.csv").touch()
    assert load_settings().data_dir == user_data_path("marginalia", appauthor=False)


@pytest.mark.parametrize(
    ("environment", "provider", "model"),
    [
        ({"ANTHROPIC_API_KEY": "k"}, "anthropic", "claude-sonnet-5-5"),
        ({"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, "anthropic", "claude-sonnet-5-5"),
        ({"OPENAI_BASE_URL": "http://localhost:11434/v1", "LLM_MODEL": "llama"}, "openai", "llama"),
        ({"ANTHROPIC_API_KEY": "k", "LLM_PROVIDER": "extractive"}, "extractive", "extractive"),
    ],
)
def test_auto_takes_the_first_provider_that_is_set_up(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], provider: str, model: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert (settings.provider, settings.model) == (provider, model)


@pytest.mark.parametrize(
    ("environment", "company"),
    [
        ({"ANTHROPIC_API_KEY": "k"}, "Anthropic"),
        ({"OPENAI_API_KEY": "k"}, "OpenAI"),
        ({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://localhost:11434/v1"}, ""),
        ({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "https://llm.example.org"}, ""),
    ],
)
def test_a_server_of_ones_own_is_no_companys(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], company: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert settings.company_of(settings.provider) == company


def test_the_environment_goes_before_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("LLM_MODEL=from-file\nHISTORY_MESSAGES=6\nANTHROPIC_API_KEY=\n", encoding="utf-8")
    monkeypatch.setenv("LLM_MODEL", "from-environment")
    settings = load_settings()
    assert (settings.llm_model, settings.history_messages) == ("from-environment", 6)


def test_the_database_is_in_the_data_folder_unless_said_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA_DIR", "/srv/books")
    assert load_settings().storage_url == "sqlite:////srv/books/marginalia.db"
    monkeypatch.setenv("DATABASE_URL", "sqlite:///else.db")
    assert load_settings().storage_url == "sqlite:///else.db"


def test_a_path_that_no_shell_has_read_may_begin_at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "token").write_text("secret-token")
    Path(".env").write_text("DATA_DIR=~/books\nDISCORD_TOKEN_FILE=~/token\n", encoding="utf-8")
    settings = load_settings()
    assert (settings.data_dir, settings.discord_token) == (tmp_path / "ann" / "books", "secret-token")
    monkeypatch.setenv("DATA_DIR", "~nobody-at-all/books")
    assert load_settings().data_dir == Path("~nobody-at-all/books")


def test_the_environment_alone_counts_where_there_is_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("GUTENDEX_URL=\nLOG_FORMAT=pretty\n", encoding="utf-8")
    monkeypatch.setenv("LLM_MODEL", "from-environment")
    settings = load_settings(_env_file=None)
    assert (settings.gutendex_url, settings.llm_model) == ("https://gutendex.com", "from-environment")


def test_a_folder_with_the_code_or_the_data_is_the_programs_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert not is_own_folder()
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert not is_own_folder()
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    assert not is_own_folder()
    Path("data", "marginalia.db").touch()
    assert is_own_folder()
    monkeypatch.chdir(Path(__file__).parents[2])
    assert is_own_folder()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0)
    try:
        with pytest.raises(SettingsError, match="cannot be read in the folder you are in"):
            load_settings()
    finally:
        tmp_path.chmod(0o700)


def test_a_file_that_is_not_text_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes("LLM_MODEL=modèle".encode("latin-1"))
    with pytest.raises(SettingsError, match=r"\.env .* is not UTF-8 text"):
        load_settings()


def test_an_empty_folder_in_place_of_the_file_is_reported(tmp_path: Path) -> None:
    """Docker makes one where the file to mount is missing. One with something in it is another program's."""
    (tmp_path / ".env").mkdir()
    with pytest.raises(SettingsError, match=r"\.env .* is an empty folder"):
        load_settings()
    load_settings(_env_file=None)
    (tmp_path / ".env" / "pyvenv.cfg").touch()
    load_settings()


def test_blanks_around_a_value_are_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_PROVIDER", "openai \r")
    monkeypatch.setenv("OPENAI_API_KEY", " key ")
    monkeypatch.setenv("MAX_UPLOAD_MB", " ")
    settings = load_settings()
    assert (settings.provider, settings.openai_api_key, settings.max_upload_mb) == ("openai", "key", 50)


def test_a_fault_of_several_entries_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_GUILD_IDS", "mine,yours")
    with pytest.raises(SettingsError) as refusal:
        load_settings()
    assert refusal.value.message.count("DISCORD_GUILD_IDS") == 1


@pytest.mark.parametrize("value", ["1,23", "1, 23", " 1 ,23,", "1 23", "1\n23"])
def test_guild_ids_are_a_list_with_commas_or_blanks(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("DISCORD_GUILD_IDS", value)
    assert load_settings().discord_guild_ids == (1, 23)


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("HISTORY_MESSAGES", "many", "must be a whole number"),
        ("HISTORY_MESSAGES", "1", "must be 2 or more"),
        ("TURN_TIMEOUT_S", "-1", "must be more than 0"),
        ("METRICS_PORT", "99999", "must be 65535 or less"),
        ("TURN_TIMEOUT_S", "99999", "must be 3600 or less"),
        ("VERBOSE_DEFAULT", "maybe", "must be true or false"),
        ("LLM_PROVIDER", "oracle", "must be 'auto', "),
        ("LOG_LEVEL", "loud", "must be 'DEBUG', "),
        ("DISCORD_GUILD_IDS", "1, guild", "must be a whole number, not 'guild'"),
        ("EXTRA_TOOLS", "clock, radio", "must be 'clock' or 'weather', not 'radio'"),
        ("LLM_TOOLS", "sometimes", "must be "),
        ("OPENAI_BASE_URL", "localhost:11434/v1", "must be a web address"),
        ("ANTHROPIC_BASE_URL", "http://", "must be a web address"),
        ("OPENAI_BASE_URL", "https://me.azure.com/deployments/a?api-version=1", "must have no question mark"),
        ("DISCORD_API_URL", "discord.com/api/v10", "must be a web address"),
        ("LLM_CONTEXT_TOKENS", "5", "must be 0 or at least 2,048"),
        ("LLM_MAX_TOKENS", "1", "must be 0 or at least 16"),
        ("LLM_MAX_TOKENS", "4096", "must be less than LLM_CONTEXT_TOKENS"),
    ],
)
def test_a_bad_value_is_a_sentence_that_names_the_setting(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, fault: str
) -> None:
    monkeypatch.setenv("LLM_CONTEXT_TOKENS", "4096")
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=f"{name} {fault}"):
        load_settings()
