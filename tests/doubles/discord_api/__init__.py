"""A Discord on loopback, true enough for the real discord.py client with nothing replaced but where it connects to."""

from tests.doubles.discord_api.actor import Actor
from tests.doubles.discord_api.double import PATIENCE_S, DiscordDouble
from tests.doubles.discord_api.entities import (
    Attachment,
    Button,
    Channel,
    ChannelType,
    Guild,
    Message,
    MessageFlag,
    MessageType,
    Permission,
    User,
)
from tests.doubles.discord_api.interactions import Interaction
from tests.doubles.discord_api.ratelimits import Window

__all__ = [
    "PATIENCE_S",
    "Actor",
    "Attachment",
    "Button",
    "Channel",
    "ChannelType",
    "DiscordDouble",
    "Guild",
    "Interaction",
    "Message",
    "MessageFlag",
    "MessageType",
    "Permission",
    "User",
    "Window",
]
