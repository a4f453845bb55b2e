"""Pictures of those who take part: their first letter on their colour."""

from collections.abc import Iterable
from io import BytesIO

from discord import Asset, ClientUser
from PIL import Image, ImageDraw, ImageFont
from simcord import MemberActor
from simcord.backend.cdn import CDN_BASE

SIZE = 128
"""Pixels."""

Picture = tuple[str, bytes]


def faces(bot: ClientUser, colour: int, readers: Iterable[tuple[MemberActor, str, int]]) -> dict[str, Picture]:
    """Pictures by the addresses that simcord and discord.py give them; a reader's avatar is called as the reader is."""
    found = {f"{CDN_BASE}/embed/avatars/{(bot.id >> 22) % 6}.png": _face(bot.name, colour)}
    for reader, name, its_colour in readers:
        face, address = _face(name, its_colour), f"avatars/{reader.id}/{name}.png"
        found |= {f"{CDN_BASE}/{address}": face, f"{Asset.BASE}/{address}?size=1024": face}
    return found


def _face(name: str, colour: int) -> Picture:
    image = Image.new("RGB", (SIZE, SIZE), f"#{colour:06x}")
    middle, letter = (SIZE / 2, SIZE / 2), ImageFont.load_default(SIZE * 0.6)
    ImageDraw.Draw(image).text(middle, name[0], "white", letter, anchor="mm")
    file = BytesIO()
    image.save(file, "PNG")
    return f"{name}.png", file.getvalue()
