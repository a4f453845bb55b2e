"""Discord's limits on a message: content, embeds, files, nonce."""

import re

from tests.doubles.discord_api.component_limits import component_problems
from tests.doubles.discord_api.entities import Json
from tests.doubles.discord_api.problems import Problem, Problems, at_most, length, required, within

CONTENT = 2000
EMBEDS = 10
EMBED_TOTAL = 6000
FILES = 10
FILE_BYTES = 10 * 1024 * 1024
REQUEST_BYTES = 25 * 1024 * 1024
NONCE = 25
POLL_ANSWERS = 10
POLL_HOURS = 32 * 24

_COULD_PING = re.compile(r"@everyone|@here|<@[!&]?\d+>")
_FIELDS = {"title": 256, "description": 4096}


def message_problems(payload: Json, files: dict[str, bytes]) -> Problems:
    """Everything Discord would refuse in a message being sent or edited."""
    if payload.get("content") is not None:
        yield from within("content", payload["content"], CONTENT)
    if payload.get("embeds") is not None:
        yield from _embeds(payload["embeds"])
    if payload.get("components") is not None:
        yield from component_problems("components", payload["components"])
    if payload.get("nonce") is not None:
        yield from within("nonce", str(payload["nonce"]), NONCE)
    if payload.get("poll") is not None:
        yield from _poll(payload["poll"])
    yield from _files(payload, files)


def house_problems(payload: Json) -> Problems:
    """What Discord lets through and this bot never does: content that decides by itself whom it notifies."""
    content = payload.get("content")
    if not content:
        return
    allowed = payload.get("allowed_mentions")
    if allowed is None:
        yield required("allowed_mentions")
    elif _COULD_PING.search(str(content)) and (allowed.get("parse") or allowed.get("users") or allowed.get("roles")):
        yield Problem("allowed_mentions", "COULD_PING", "The content holds a mention and mentions are allowed.")


def _embeds(embeds: object) -> Problems:
    yield from at_most("embeds", embeds, EMBEDS)
    if not isinstance(embeds, list):
        return
    for number, embed in enumerate(embeds):
        yield from _embed(f"embeds.{number}", embed)
    if sum(_size(embed) for embed in embeds) > EMBED_TOTAL:
        yield Problem("embeds", "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {EMBED_TOTAL}")


def _embed(path: str, embed: Json) -> Problems:
    for name, most in _FIELDS.items():
        if name in embed:
            yield from within(f"{path}.{name}", embed[name], most)
    if "footer" in embed:
        yield from within(f"{path}.footer.text", embed["footer"].get("text"), 2048, 1)
    if "author" in embed:
        yield from within(f"{path}.author.name", embed["author"].get("name"), 256, 1)
    yield from at_most(f"{path}.fields", embed.get("fields", []), 25)
    for number, field in enumerate(embed.get("fields", [])):
        yield from within(f"{path}.fields.{number}.name", field.get("name"), 256, 1)
        yield from within(f"{path}.fields.{number}.value", field.get("value"), 1024, 1)
    if not 0 <= embed.get("color", 0) <= 0xFFFFFF:
        yield Problem(f"{path}.color", "NUMBER_TYPE_MAX", "int value should be less than or equal to 16777215.")
    if not any(embed.get(key) for key in ("title", "description", "fields", "footer", "author", "image", "thumbnail")):
        yield required(f"{path}.description")


def _poll(poll: Json) -> Problems:
    yield from within("poll.question.text", poll["question"].get("text"), 300, 1)
    yield from at_most("poll.answers", poll["answers"], POLL_ANSWERS)
    if not poll["answers"]:
        yield required("poll.answers")
    for number, answer in enumerate(poll["answers"]):
        yield from within(f"poll.answers.{number}.poll_media.text", answer["poll_media"].get("text"), 55, 1)
    if not 1 <= poll.get("duration", 24) <= POLL_HOURS:
        yield Problem("poll.duration", "NUMBER_TYPE_MAX", f"Must be between 1 and {POLL_HOURS}.")


def _size(embed: Json) -> int:
    texts = [embed.get("title"), embed.get("description")]
    texts += [embed.get("footer", {}).get("text"), embed.get("author", {}).get("name")]
    texts += [text for field in embed.get("fields", []) for text in (field.get("name"), field.get("value"))]
    return sum(length(text) for text in texts if isinstance(text, str))


def _files(payload: Json, files: dict[str, bytes]) -> Problems:
    if len(files) > FILES:
        yield Problem("files", "BASE_TYPE_MAX_LENGTH", f"Must be {FILES} or fewer in length.")
    for name, data in files.items():
        if len(data) > FILE_BYTES:
            yield Problem(name, "FILE_TOO_LARGE", f"File exceeds maximum size of {FILE_BYTES}.")
    if sum(map(len, files.values())) > REQUEST_BYTES:
        yield Problem("files", "REQUEST_TOO_LARGE", f"Files exceed {REQUEST_BYTES} bytes.")
    for number, attachment in enumerate(payload.get("attachments") or []):
        named = f"files[{attachment.get('id')}]" in files
        if "filename" in attachment and "url" not in attachment and not named:
            yield Problem(f"attachments.{number}.id", "ATTACHMENT_NOT_FOUND", "No file of that number was sent.")
        if attachment.get("description"):
            yield from within(f"attachments.{number}.description", attachment["description"], 1024)
