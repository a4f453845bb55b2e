"""What `marginalia preview` touches, and what it says where its extra is missing."""

import importlib.util
from pathlib import Path

import pytest

from bot.cli.run import NOT_INSTALLED, preview, preview_settings
from domain.errors import SettingsError


def test_it_keeps_away_from_the_shelf_and_the_servers_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_DIR", "/srv/marginalia")
    monkeypatch.setenv("DATABASE_URL", "sqlite:////srv/marginalia/kept.db")
    monkeypatch.setenv("BOOKS_URL", "s3://bucket/books")
    monkeypatch.setenv("DISCORD_GUILD_IDS", "1234")
    monkeypatch.setenv("LLM_PROVIDER", "openai")
    settings = preview_settings(tmp_path)
    assert settings.data_dir == tmp_path
    assert settings.storage_url == f"sqlite:///{tmp_path / 'marginalia.db'}"
    assert settings.books_url == ""
    assert settings.discord_guild_ids == ()
    assert settings.provider == "openai"


@pytest.mark.parametrize("part", ["simcord", "PIL"])
def test_a_missing_extra_is_named_with_the_way_to_install_it(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == part else found(name))
    with pytest.raises(SettingsError) as refusal:
        preview()
    assert refusal.value.message == NOT_INSTALLED
    assert "simcord[preview]" in NOT_INSTALLED
    assert "make preview" in NOT_INSTALLED
