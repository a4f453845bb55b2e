"""compose.yaml names settings, volumes and services that there are. Docker itself is not needed here."""

import re
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from bot.settings import Settings

FILE = Path(__file__).parents[1] / "compose.yaml"
COMPOSE: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
BOTS = {name: service for name, service in COMPOSE["services"].items() if name.startswith("bot-")}
OF_THE_STORE = {"AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"}


def test_there_are_three_bots_alike_but_for_their_volumes() -> None:
    assert len(BOTS) == 3
    assert len({str({**bot, "volumes": None}) for bot in BOTS.values()}) == 1
    assert len({str(bot["volumes"]) for bot in BOTS.values()}) == 3


def test_a_bot_is_given_settings_that_there_are_and_that_hold() -> None:
    environment: dict[str, str] = BOTS["bot-1"]["environment"]
    ours = {name.lower(): value for name, value in environment.items() if name not in OF_THE_STORE}
    assert set(ours) <= set(Settings.model_fields)
    values = {name: re.sub(r"\$\{\w+(?::[-?]([^}]*))?\}", r"\1", str(value)) for name, value in ours.items()}
    settings = Settings(_env_file=None, **values)  # type: ignore[arg-type, call-arg]
    assert settings.storage_url == "postgresql://marginalia:change-me@postgres:5432/marginalia"
    assert settings.books_url == "s3://books/marginalia"
    assert {"LLM_MODEL", "OPENAI_BASE_URL"} <= set(environment), "a server of one's own has a model of its own"
    assert (settings.metrics_host, settings.metrics_port) == ("0.0.0.0", 9464)


def test_what_a_service_waits_for_and_keeps_things_in_is_declared() -> None:
    kept = [
        volume.partition(":")[0] for service in COMPOSE["services"].values() for volume in service.get("volumes", ())
    ]
    assert sorted(kept) == sorted(COMPOSE["volumes"])
    for service in COMPOSE["services"].values():
        for name in service.get("depends_on", ()):
            assert name in COMPOSE["services"]


def test_who_is_waited_for_until_it_is_healthy_says_so() -> None:
    for service in COMPOSE["services"].values():
        awaited = service.get("depends_on", {})
        for name in awaited if isinstance(awaited, dict) else ():
            if awaited[name]["condition"] == "service_healthy":
                assert COMPOSE["services"][name]["healthcheck"]["test"]


def test_the_passwords_of_the_database_and_the_store_are_those_that_they_are_started_with() -> None:
    services, bot = COMPOSE["services"], BOTS["bot-1"]["environment"]
    password = services["postgres"]["environment"]["POSTGRES_PASSWORD"]
    assert f"marginalia:{password}@postgres" in bot["DATABASE_URL"]
    assert bot["AWS_SECRET_ACCESS_KEY"] == services["store"]["environment"]["MINIO_ROOT_PASSWORD"]
    assert bot["AWS_SECRET_ACCESS_KEY"] == services["bucket"]["environment"]["STORE_PASSWORD"]
    assert bot["AWS_ACCESS_KEY_ID"] == services["store"]["environment"]["MINIO_ROOT_USER"]
    assert "/books" in services["bucket"]["entrypoint"]
