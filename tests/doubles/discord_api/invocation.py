"""What a client makes of a typed slash command: checked against what the bot registered, as the client checks it."""

from typing import TYPE_CHECKING, Any

from tests.doubles.discord_api.command_limits import INTEGER, NUMBER, STRING, SUB_COMMAND, SUB_COMMAND_GROUP
from tests.doubles.discord_api.entities import Attachment, Channel, Json, Permission, User
from tests.doubles.discord_api.payloads import attachment_payload, channel_payload, user_payload
from tests.doubles.discord_api.permissions import permissions_in

if TYPE_CHECKING:
    from tests.doubles.discord_api.double import DiscordDouble

BOOLEAN, USER, CHANNEL, ATTACHMENT = 5, 6, 7, 11
PYTHON_TYPES: dict[int, tuple[type, ...]] = {STRING: (str,), INTEGER: (int,), BOOLEAN: (bool,), NUMBER: (int, float)}


def command_data(
    double: "DiscordDouble",
    user: User,
    channel: Channel,
    command: str,
    options: dict[str, Any],
    focused: str | None = None,
) -> Json:
    """The `data` of an interaction for "group command" and its options by name."""
    name, *path = command.split()
    found = double.commands.find(name, channel.guild.id if channel.guild else None)
    assert found, f"no command /{name}: the bot registered {double.commands.commands}"
    _assert_offered(double, found, user, channel)
    resolved: Json = {}
    leaf, wrap = found, []
    for step in path:
        leaf = next((each for each in leaf["options"] if each["name"] == step), {})
        assert leaf, f"/{command}: no subcommand {step!r}"
        wrap.append(leaf)
    assert not any(each["type"] in (SUB_COMMAND, SUB_COMMAND_GROUP) for each in leaf.get("options", []))
    filled = _options(leaf, options, focused, resolved)
    for each in reversed(wrap):
        filled = [{"name": each["name"], "type": each["type"], "options": filled}]
    data: Json = {"id": found["id"], "name": name, "type": 1, "options": filled, "resolved": resolved}
    return data | {"guild_id": found["guild_id"]} if "guild_id" in found else data


GUILD, BOT_DIRECT, PRIVATE = 0, 1, 2
GUILD_INSTALL, USER_INSTALL = 0, 1


def context_of(channel: Channel, bot: User) -> int:
    """What kind of place it is, as commands name it."""
    if channel.guild is not None:
        return GUILD
    return BOT_DIRECT if bot in channel.recipients else PRIVATE


def _assert_offered(double: "DiscordDouble", command: Json, user: User, channel: Channel) -> None:
    offered, context = f"/{command['name']} is not offered here", context_of(channel, double.bot)
    types = command.get("integration_types") or [GUILD_INSTALL]
    is_guest = context == PRIVATE
    if channel.guild is not None:
        is_guest = double.bot.id not in channel.guild.members and not channel.guild.has_commands_alone
    if is_guest:
        assert "guild_id" not in command, offered
        assert user.has_app, offered
        assert USER_INSTALL in types, offered
    elif context == GUILD:
        assert GUILD_INSTALL in types or (user.has_app and USER_INSTALL in types), offered
    contexts = command.get("contexts")
    assert contexts is None or context in contexts, offered
    assert contexts is not None or context != PRIVATE, offered
    if is_guest:
        return
    bits = command.get("default_member_permissions")
    if bits is not None and channel.guild is not None:
        needed, mine = Permission(int(bits)), permissions_in(channel, user)
        assert Permission.ADMINISTRATOR in mine or needed & mine == needed, f"/{command['name']} is hidden from them"


def _options(leaf: Json, given: dict[str, Any], focused: str | None, resolved: Json) -> list[Json]:
    known = {each["name"]: each for each in leaf.get("options", [])}
    assert set(given) <= set(known), f"options are {sorted(known)}, not {sorted(given)}"
    if focused is None:
        missing = [name for name, each in known.items() if each.get("required") and name not in given]
        assert not missing, f"required: {missing}"
    filled = []
    for name, value in given.items():
        option = known[name]
        part = {"name": name, "type": option["type"], "value": _value(option, value, resolved, name == focused)}
        if name == focused:
            assert option.get("autocomplete"), f"{name} completes nothing"
            part["focused"] = True
        filled.append(part)
    return filled


def _value(option: Json, value: Any, resolved: Json, focused: bool) -> Any:
    kind = option["type"]
    if kind == ATTACHMENT:
        return _resolved_attachment(value, resolved)
    if kind in (USER, CHANNEL):
        return _resolved_entity(kind, value, resolved)
    if focused:
        return value
    assert isinstance(value, PYTHON_TYPES[kind]), f"{option['name']} takes {PYTHON_TYPES[kind]}, not {value!r}"
    if choices := option.get("choices"):
        named = {each["name"]: each["value"] for each in choices}
        value = named.get(value, value)
        assert value in named.values(), f"{option['name']} is one of {named}"
    _assert_in_bounds(option, value)
    return value


def _assert_in_bounds(option: Json, value: Any) -> None:
    if isinstance(value, str):
        least, most = option.get("min_length") or 0, option.get("max_length") or 6000
        assert least <= len(value) <= most, f"{option['name']} takes {least} to {most} characters"
    elif not isinstance(value, bool):
        assert value >= option.get("min_value", value), f"{option['name']} is at least {option['min_value']}"
        assert value <= option.get("max_value", value), f"{option['name']} is at most {option['max_value']}"


def _resolved_attachment(attachment: Attachment, resolved: Json) -> str:
    resolved.setdefault("attachments", {})[str(attachment.id)] = attachment_payload(attachment)
    return str(attachment.id)


def _resolved_entity(kind: int, value: Any, resolved: Json) -> str:
    if kind == CHANNEL:
        resolved.setdefault("channels", {})[str(value.id)] = channel_payload(value)
    else:
        user: User = getattr(value, "user", value)
        resolved.setdefault("users", {})[str(user.id)] = user_payload(user)
    return str(value.id)
