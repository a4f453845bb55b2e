"""marginalia health: is the bot online? For monitors, and for people who do not trust them."""

from bot.commands.running import console, fail
from bot.health import STALE_AFTER_S, age_of
from bot.settings import load_settings


def health() -> None:
    """Say whether the bot that uses this DATA_DIR is online; exit code 0 if it is, else 1."""
    folder = load_settings().data_dir
    age = age_of(folder)
    if age is None:
        fail(f"No bot is online on {folder}. Start it with: marginalia run")
    if age > STALE_AFTER_S:
        fail(
            f"The bot on {folder} was online {age:.0f} seconds ago and is not now: it was killed, it has lost Discord, "
            "or its storage does not answer. Its log says which."
        )
    console.print(f"Online; last seen {max(0.0, age):.0f} seconds ago.", markup=False)
