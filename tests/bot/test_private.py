"""Files, keys and passwords are nobody else's business."""

import json
import logging
import os
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from bot.logs import set_up_logs
from bot.private import forget_secrets, make_private, redacted
from bot.settings import Settings, load_settings
from domain.errors import SettingsError
from tests.sampling import a_few

TOKEN = "MTIz.secret-token.abcdef"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)


def _modes(folder: Path) -> Iterator[tuple[str, int]]:
    yield ".", folder.stat().st_mode & 0o777
    for path in folder.rglob("*"):
        yield str(path.relative_to(folder)), path.stat().st_mode & 0o777


def _assert_private(folder: Path) -> None:
    modes = dict(_modes(folder))
    assert len(modes) > 2
    assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}


@pytest.mark.parametrize("umask", a_few([0o000, 0o022], 1))
def test_files_and_backups_are_this_users_alone_whatever_the_umask(umask: int, tmp_path: Path) -> None:
    book = tmp_path / "novel.txt"
    book.write_text("CHAPTER 1\n\n" + "Marta came to the island on a Tuesday. " * 5_000)
    environment = {"PATH": os.environ["PATH"], "DATA_DIR": str(tmp_path / "shelf"), "HOME": str(tmp_path)}
    for arguments in (["books", "add", str(book)], ["backup", str(tmp_path / "copy")]):
        subprocess.run(
            [sys.executable, "-m", "bot", *arguments],
            env=environment,
            cwd=Path(__file__).parents[2],
            check=True,
            umask=umask,
            capture_output=True,
        )
    _assert_private(tmp_path / "shelf")
    _assert_private(tmp_path / "copy")


def test_a_folder_of_an_earlier_version_is_closed_to_others(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for name in ("marginalia.db", "discord-commands.json", "books/1.book", "books-cache/2.book"):
        path = data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        path.chmod(0o644)
    make_private(data)
    _assert_private(data)


def test_a_folder_that_holds_other_things_too_keeps_its_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for name in ("marginalia.db", "site.html"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o644)
    make_private(tmp_path)
    assert {name: mode & 0o077 for name, mode in _modes(tmp_path)} == {
        ".": 0o055,
        "marginalia.db": 0,
        "site.html": 0o044,
    }


@pytest.mark.parametrize("name", ["discord_token", "anthropic_api_key", "openai_api_key"])
def test_a_key_is_read_from_a_file(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{TOKEN}\n")
    monkeypatch.setenv(f"{name.upper()}_FILE", str(tmp_path / "key"))
    settings = load_settings()
    assert getattr(settings, name) == TOKEN
    assert settings.secrets == (TOKEN,)
    monkeypatch.setenv(name.upper(), "set-by-itself")
    assert getattr(load_settings(), name) == "set-by-itself"


def test_a_credential_of_systemd_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "discord_token").write_text(TOKEN)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert load_settings().discord_token == TOKEN
    assert load_settings().anthropic_api_key == ""


def test_a_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN_FILE", "/nowhere/token")
    with pytest.raises(SettingsError, match="DISCORD_TOKEN_FILE: /nowhere/token cannot be read"):
        load_settings()


@pytest.mark.parametrize("content", [f"{TOKEN}\r\n", f"\ufeff{TOKEN}\n"])
def test_a_file_as_an_editor_leaves_it_has_the_key_alone(
    content: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text(content, newline="")
    monkeypatch.setenv("DISCORD_TOKEN_FILE", str(tmp_path / "key"))
    assert load_settings().discord_token == TOKEN


@pytest.mark.parametrize("content", ["", " \n"])
def test_an_empty_file_is_not_taken_for_no_key(content: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(content)
    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(SettingsError, match=r"ANTHROPIC_API_KEY_FILE: .*key is empty"):
        load_settings()


@pytest.mark.parametrize("key", ["two\nlines-sesame", "null\0sesame", "schlüssel-sesame"])
def test_a_key_that_no_header_can_hold_is_refused_without_being_shown(
    key: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text(key)
    monkeypatch.setenv("DISCORD_TOKEN_FILE", str(tmp_path / "key"))
    with pytest.raises(SettingsError, match="DISCORD_TOKEN has a line break or another character") as refused:
        load_settings()
    assert "sesame" not in str(refused.value)


def test_a_token_for_clients_that_no_header_can_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_TOKEN", "schlüssel-sesame")
    with pytest.raises(SettingsError, match="MCP_TOKEN has a line break or another character"):
        load_settings()


def test_secrets_leave_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", TOKEN)
    monkeypatch.setenv("DATABASE_URL", "postgresql://ann:open-sesame@host/books")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://ann:open-sesame@host/v1")
    monkeypatch.setenv("MCP_SERVERS", "notes=https://host/mcp?token=open-sesame")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "open-sesame")
    monkeypatch.setenv("BOOKS_URL", "s3://bucket/books")
    monkeypatch.setenv("LLM_MODEL", "stays")
    forget_secrets()
    assert os.environ["BOOKS_URL"] == "s3://bucket/books"
    told = subprocess.run([sys.executable, "-c", "import os; print(dict(os.environ))"], capture_output=True, check=True)
    assert TOKEN not in told.stdout.decode()
    assert "open-sesame" not in told.stdout.decode()
    assert "stays" in told.stdout.decode()


def test_settings_do_not_show_their_secrets() -> None:
    shown = repr(load_settings(discord_token=TOKEN, database_url="postgresql://ann:open-sesame@host/books"))
    assert TOKEN not in shown
    assert "open-sesame" not in shown


def test_passwords_and_keys_in_addresses_are_kept_out_of_logs_wherever_they_turn_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "key-of-the-store")
    monkeypatch.setenv("KEY_OF_FILES", "of-the-files")
    settings = load_settings(
        database_url="postgresql://ann:open%2Dsesame@host/books",
        openai_base_url="https://ann:of-the-model@host/v1",
        mcp_servers="notes=https://host/mcp?api_key=of-the-notes; files=https://host/${KEY_OF_FILES}",
    )
    told = "fails: open-sesame, open%2Dsesame, of-the-model, of-the-notes, of-the-files, key-of-the-store"
    assert redacted(told, settings.secrets) == "fails: ***, ***, ***, ***, ***, ***"
    assert (
        redacted("GET https://host/x?token=abc&page=2&key=def, Bearer abcdef")
        == "GET https://host/x?token=***&page=2&key=***, Bearer ***"
    )
    assert redacted("tokens=12 used") == "tokens=12 used"
    told = redacted("WebSocket Event: {'t': 'INTERACTION_CREATE', 'd': {'token': 'aW50ZXJhY3Rpb24', 'type': 2}}")
    assert told == "WebSocket Event: {'t': 'INTERACTION_CREATE', 'd': {'token': '***', 'type': 2}}"


@pytest.mark.parametrize(
    "address",
    ["https://sesame-4711@host/v1", "https://ann:sesame@4711@host/v1", "https://ann:sesame%404711@host/v1"],
)
def test_what_an_address_has_before_its_host_is_in_no_log_in_any_form(address: str) -> None:
    user, _, password = unquote(address.removeprefix("https://").rpartition("@")[0]).partition(":")
    sent = b64encode(f"{user}:{password}".encode()).decode()
    told = redacted(f"GET {address}, {password or user}, Basic {sent}", load_settings(openai_base_url=address).secrets)
    assert told == "GET https://***@host/v1, ***, Basic ***"


def test_the_name_of_a_databases_user_is_no_secret() -> None:
    assert load_settings(database_url="postgresql://marginalia@host/books").secrets == ()


@pytest.mark.parametrize("name", ["client_secret", "refresh_token", "apikey", "subscription-key", "X-Amz-Signature"])
def test_a_secret_is_told_by_the_end_of_its_name(name: str) -> None:
    assert redacted(f"GET https://host/x?page=2&{name}=sesame&of=3") == f"GET https://host/x?page=2&{name}=***&of=3"


@pytest.mark.parametrize("unit", ["a-", "token", "://", "://a@", "http://", "://a:"])
def test_a_line_is_redacted_in_time_by_its_length(unit: str) -> None:
    def seconds(length: int) -> float:
        started = time.thread_time()
        redacted(unit * length)
        return time.thread_time() - started

    assert min(seconds(8_000) for _ in range(3)) < 8 * min(seconds(2_000) for _ in range(3)) + 0.05


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_secret_is_in_a_log_at_any_level(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        set_up_logs("DEBUG", form, (TOKEN,))  # type: ignore[arg-type]
        logger = logging.getLogger("somebody")
        logger.debug("headers: {'Authorization': 'Bot %s'}", TOKEN)
        logger.info("connects to postgresql://ann:open-sesame@host/books")
        logger.debug("POST https://discord.com/api/v10/interactions/12/aW50ZXJhY3Rpb246MTIzNDU2Nzg5/callback")
        try:
            raise ValueError(f"no such token: {TOKEN}")
        except ValueError:
            logger.exception("refused")
    finally:
        root.handlers, root.level = handlers, level
    said = capsys.readouterr().err
    assert "somebody" in said
    assert "@host/books" in said
    assert all(secret not in said for secret in (TOKEN, "open-sesame", "aW50ZXJhY3Rpb246"))
    if form == "json":
        assert len([json.loads(line) for line in said.splitlines()]) == 4


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("secret", ['open "sesame" now', "open\\sesame's door", "öffne dich, Sesam"])
def test_a_secret_is_in_no_log_however_its_signs_are_escaped(
    secret: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        set_up_logs("DEBUG", form, (secret,))  # type: ignore[arg-type]
        for written in (secret, repr(secret), ascii(secret), json.dumps(secret), repr({"key": secret})):
            logging.getLogger("somebody").debug("it says: %s", written)
        try:
            raise ValueError({"key": secret})
        except ValueError:
            logging.getLogger("somebody").exception("refused")
    finally:
        root.handlers, root.level = handlers, level
    said = capsys.readouterr().err
    assert said.count("***") == 6
    assert not any(part.casefold() in said.casefold() for part in ("sesam", "ffne"))


def test_only_secrets_are_taken_out() -> None:
    assert (
        redacted("sqlite:///data/marginalia.db opens; mail a:b@c", ["short"])
        == "sqlite:///data/marginalia.db opens; mail a:b@c"
    )
