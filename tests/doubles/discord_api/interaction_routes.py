"""Answers to interactions: the one callback, and the webhook its token opens for a quarter of an hour."""

from typing import Any

from tests.doubles.discord_api import errors
from tests.doubles.discord_api.call import Call, Endpoint
from tests.doubles.discord_api.command_limits import choice_problems
from tests.doubles.discord_api.component_limits import modal_problems
from tests.doubles.discord_api.entities import Json, Message, MessageFlag, MessageType
from tests.doubles.discord_api.interactions import ALLOWED, Callback, Interaction, InteractionType
from tests.doubles.discord_api.message_routes import Composer, MessageRoutes
from tests.doubles.discord_api.payloads import message_payload
from tests.doubles.discord_api.problems import Problem
from tests.doubles.discord_api.world import World

FOLLOW_UPS_OF_GUESTS = 5
"""Where only the person has installed the application."""


class InteractionRoutes:
    def __init__(self, world: World, composer: Composer, messages: MessageRoutes) -> None:
        self._world = world
        self._composer = composer
        self._messages = messages
        self.interactions: dict[str, Interaction] = {}
        """By token."""

    def endpoints(self) -> dict[str, Endpoint]:
        hook = "/webhooks/{app}/{token}"
        return {
            "POST /interactions/{interaction}/{token}/callback": self.acknowledge,
            f"POST {hook}": self.follow_up,
            f"GET {hook}/messages/{{message}}": self.get,
            f"PATCH {hook}/messages/{{message}}": self.edit,
            f"DELETE {hook}/messages/{{message}}": self.delete,
        }

    async def acknowledge(self, call: Call) -> Json | None:
        interaction = self.interactions.get(call.params["token"])
        if interaction is None or interaction.late:
            raise errors.unknown_interaction()
        if interaction.acknowledged:
            raise errors.already_acknowledged()
        callback = self._callback(call, interaction)
        data = call.payload.get("data") or {}
        self._check(call, callback, data)
        self._carry_out(call, interaction, callback, data)
        interaction.callback = callback
        self._world.changed()
        return _callback_payload(interaction) if call.query.get("with_response") in ("1", "true") else None

    def _callback(self, call: Call, interaction: Interaction) -> Callback:
        kind = call.payload.get("type")
        from_message = interaction.source is not None or kind not in (Callback.UPDATE, Callback.DEFERRED_UPDATE)
        if kind not in ALLOWED[interaction.type] or not from_message:
            self._composer.refuse(call, [Problem("type", "INTERACTION_RESPONSE_TYPE", f"{kind} does not answer this")])
        return Callback(kind)

    def _check(self, call: Call, callback: Callback, data: Json) -> None:
        if callback is Callback.CHOICES:
            self._composer.refuse(call, list(choice_problems("data.choices", data.get("choices"))))
        elif callback is Callback.MODAL:
            self._composer.refuse(call, list(modal_problems(data)))
        elif callback in (Callback.MESSAGE, Callback.UPDATE):
            self._composer.check(call, data)

    def _carry_out(self, call: Call, interaction: Interaction, callback: Callback, data: Json) -> None:
        if callback is Callback.CHOICES:
            interaction.choices = data["choices"]
        elif callback is Callback.MODAL:
            interaction.modal = data
        elif callback is Callback.MESSAGE:
            interaction.original = self._say(call, interaction, data)
        elif callback is Callback.DEFERRED_MESSAGE:
            interaction.original = self._post(interaction, {"flags": _ephemeral(data) | MessageFlag.LOADING}, data)
        else:
            assert interaction.source
            interaction.original = interaction.source
            if callback is Callback.UPDATE:
                self._messages.change(call, interaction.source, data)

    async def follow_up(self, call: Call) -> Json:
        interaction = self._open(call)
        self._composer.check(call, call.payload)
        if interaction.thinking:
            return message_payload(self._fill(call, interaction, call.payload))
        if interaction.by_person_alone and len(interaction.followups) >= FOLLOW_UPS_OF_GUESTS:
            raise errors.too_many_follow_ups()
        message = self._say(call, interaction, call.payload)
        interaction.followups.append(message)
        return message_payload(message)

    async def get(self, call: Call) -> Json:
        return message_payload(self._message(call))

    async def edit(self, call: Call) -> Json:
        interaction = self._open(call)
        self._composer.check(call, call.payload)
        if interaction.thinking and call.params["message"] == "@original":
            return message_payload(self._fill(call, interaction, call.payload))
        return message_payload(self._messages.change(call, self._message(call)))

    async def delete(self, call: Call) -> None:
        self._world.delete(self._message(call))

    def _open(self, call: Call) -> Interaction:
        interaction = self.interactions.get(call.params["token"])
        if interaction is None or not interaction.acknowledged:
            raise errors.unknown_webhook()
        if interaction.expired:
            raise errors.expired_token()
        return interaction

    def _message(self, call: Call) -> Message:
        interaction = self._open(call)
        if call.params["message"] == "@original":
            known = [interaction.original] if interaction.original else []
        else:
            own = [*interaction.followups, *([interaction.original] if interaction.original else [])]
            known = [each for each in own if each.id == call.number("message")]
        if not known or known[0].deleted:
            raise errors.unknown_message()
        return known[0]

    def _say(self, call: Call, interaction: Interaction, data: Json) -> Message:
        parts = self._composer.parts(call, data, interaction.channel)
        self._composer.refuse_empty(parts)
        parts["flags"] = parts.get("flags", MessageFlag(0)) | _ephemeral(data)
        return self._post(interaction, parts, data)

    def _fill(self, call: Call, interaction: Interaction, data: Json) -> Message:
        """Turn "is thinking" into the answer, which is as private as it was deferred."""
        assert interaction.original
        parts = self._composer.parts(call, data, interaction.channel)
        self._composer.refuse_empty(parts)
        private = interaction.original.flags & MessageFlag.EPHEMERAL
        self._world.edit(interaction.original, parts | {"flags": parts.get("flags", MessageFlag(0)) | private})
        return interaction.original

    def _post(self, interaction: Interaction, parts: dict[str, Any], data: Json) -> Message:
        command = interaction.type is InteractionType.COMMAND
        return self._world.post(
            interaction.channel,
            self._world.bot,
            parts.pop("content", ""),
            kind=MessageType.CHAT_INPUT_COMMAND if command else MessageType.DEFAULT,
            pings=self._composer.pings(data, interaction.channel, None),
            interaction_id=interaction.id,
            invoker=interaction.user,
            installs=interaction.installs,
            **parts,
        )


def _ephemeral(data: Json) -> MessageFlag:
    return MessageFlag(data.get("flags", 0)) & MessageFlag.EPHEMERAL


def _callback_payload(interaction: Interaction) -> Json:
    assert interaction.callback
    about: Json = {
        "id": str(interaction.id),
        "type": int(interaction.type),
        "response_message_loading": interaction.callback is Callback.DEFERRED_MESSAGE,
        "response_message_ephemeral": bool(interaction.original and interaction.original.ephemeral),
    }
    body: Json = {"interaction": about}
    if interaction.original is not None:
        about["response_message_id"] = str(interaction.original.id)
        body["resource"] = {"type": int(interaction.callback), "message": message_payload(interaction.original)}
    return body
