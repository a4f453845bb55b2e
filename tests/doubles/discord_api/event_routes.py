"""/guilds/{guild}/scheduled-events."""

from datetime import datetime

from tests.doubles.discord_api import errors
from tests.doubles.discord_api import gateway as gw
from tests.doubles.discord_api.call import Call, Endpoint
from tests.doubles.discord_api.entities import Guild, Json, Permission
from tests.doubles.discord_api.message_routes import Composer
from tests.doubles.discord_api.payloads import user_payload
from tests.doubles.discord_api.permissions import may
from tests.doubles.discord_api.problems import Problem, Problems, required, within
from tests.doubles.discord_api.world import World

EXTERNAL, GUILD_ONLY, SCHEDULED = 3, 2, 1
FIELDS = (
    "name",
    "description",
    "privacy_level",
    "scheduled_start_time",
    "scheduled_end_time",
    "entity_type",
    "entity_metadata",
    "channel_id",
)


class EventRoutes:
    """Events that take place elsewhere than in a voice channel."""

    def __init__(self, world: World, composer: Composer) -> None:
        self._world = world
        self._composer = composer

    def endpoints(self) -> dict[str, Endpoint]:
        event = "/guilds/{guild}/scheduled-events/{event}"
        return {
            "GET /guilds/{guild}/scheduled-events": self.list_all,
            "POST /guilds/{guild}/scheduled-events": self.create,
            f"GET {event}": self.get,
            f"PATCH {event}": self.update,
            f"DELETE {event}": self.delete,
        }

    async def list_all(self, call: Call) -> list[Json]:
        return list(self._world.guild_of_the_bot(call.number("guild")).events.values())

    async def create(self, call: Call) -> Json:
        """Whoever may create events makes them, and manages their own."""
        guild = self._world.guild_of_the_bot(call.number("guild"))
        self._assert_may(guild, Permission.CREATE_EVENTS | Permission.MANAGE_EVENTS)
        self._composer.refuse(call, list(self._problems(call.payload)))
        bot, number = self._world.bot, self._world.snowflake()
        guild.events[number] = event = {
            "id": str(number),
            "guild_id": str(guild.id),
            "channel_id": None,
            "creator_id": str(bot.id),
            "creator": user_payload(bot),
            "description": None,
            "status": SCHEDULED,
            "entity_id": None,
            "image": None,
        } | {name: call.payload[name] for name in FIELDS if name in call.payload}
        self._tell("CREATE", event)
        return event

    async def get(self, call: Call) -> Json:
        return self._event(call)

    async def update(self, call: Call) -> Json:
        event = self._event(call)
        self._assert_may_change(call, event)
        changed = event | {name: call.payload[name] for name in FIELDS if name in call.payload}
        self._composer.refuse(call, list(self._problems(changed)))
        event.update(changed)
        self._tell("UPDATE", event)
        return event

    async def delete(self, call: Call) -> None:
        event = self._event(call)
        self._assert_may_change(call, event)
        del self._world.guild_of_the_bot(call.number("guild")).events[int(event["id"])]
        self._tell("DELETE", event)

    def _problems(self, event: Json) -> Problems:
        yield from within("name", event.get("name"), 100, 1)
        if event.get("description") is not None:
            yield from within("description", event["description"], 1000)
        if event.get("privacy_level") != GUILD_ONLY:
            yield Problem("privacy_level", "BASE_TYPE_CHOICES", f"Value must be one of ({GUILD_ONLY},).")
        if event.get("entity_type") != EXTERNAL:
            yield Problem("entity_type", "BASE_TYPE_CHOICES", "The double knows events that are external alone.")
        yield from within("entity_metadata.location", (event.get("entity_metadata") or {}).get("location"), 100, 1)
        for name in ("scheduled_start_time", "scheduled_end_time"):
            if not event.get(name):
                yield required(name)
                return
        starts, ends = (datetime.fromisoformat(event[f"scheduled_{name}_time"]) for name in ("start", "end"))
        if starts <= self._world.now():
            yield Problem(
                "scheduled_start_time", "GUILD_SCHEDULED_EVENT_SCHEDULE_PAST", "Cannot schedule event in the past."
            )
        if ends <= starts:
            yield Problem("scheduled_end_time", "GUILD_SCHEDULED_EVENT_END_BEFORE_START", "It ends before it starts.")

    def _assert_may(self, guild: Guild, any_of: Permission) -> None:
        """
        Raises:
            ApiError: 50013, the bot has none of these permissions.
        """
        place = next(iter(guild.channels.values()))
        if not any(may(self._world.bot, each, place) for each in any_of):
            raise errors.missing_permissions()

    def _assert_may_change(self, call: Call, event: Json) -> None:
        own = Permission.CREATE_EVENTS if event["creator_id"] == str(self._world.bot.id) else Permission(0)
        self._assert_may(self._world.guild_of_the_bot(call.number("guild")), own | Permission.MANAGE_EVENTS)

    def _event(self, call: Call) -> Json:
        event = self._world.guild_of_the_bot(call.number("guild")).events.get(call.number("event"))
        if event is None:
            raise errors.unknown_event()
        return event

    def _tell(self, what: str, event: Json) -> None:
        self._world.gateway.emit(f"GUILD_SCHEDULED_EVENT_{what}", event, gw.INTENT_EVENTS)
        self._world.changed()
