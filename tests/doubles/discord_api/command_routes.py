"""The application itself and its commands."""

from tests.doubles.discord_api import errors
from tests.doubles.discord_api.call import Call, Endpoint
from tests.doubles.discord_api.command_limits import command_list_problems, command_problems
from tests.doubles.discord_api.entities import Json
from tests.doubles.discord_api.message_routes import Composer
from tests.doubles.discord_api.payloads import user_payload
from tests.doubles.discord_api.world import World

CONTENT_FLAG = 1 << 18
GLOBAL = 0


class CommandRoutes:
    """`commands[scope]` holds the commands of a guild, or of scope 0 for all guilds."""

    def __init__(self, world: World, composer: Composer) -> None:
        self._world = world
        self._composer = composer
        self.commands: dict[int, list[Json]] = {}
        self.syncs = 0
        self.identify_limit = {"total": 1000, "remaining": 999, "reset_after": 14_400_000, "max_concurrency": 1}

    def endpoints(self) -> dict[str, Endpoint]:
        endpoints: dict[str, Endpoint] = {
            "GET /oauth2/applications/@me": self.application,
            "GET /applications/@me": self.application,
            "GET /gateway/bot": self.gateway,
        }
        for scope in ("/applications/{app}/commands", "/applications/{app}/guilds/{guild}/commands"):
            endpoints |= {
                f"GET {scope}": self.list_all,
                f"PUT {scope}": self.replace,
                f"POST {scope}": self.upsert,
                f"GET {scope}/{{command}}": self.get,
                f"PATCH {scope}/{{command}}": self.edit,
                f"DELETE {scope}/{{command}}": self.delete,
            }
        return endpoints

    async def application(self, call: Call) -> Json:
        return self.application_payload()

    async def gateway(self, call: Call) -> Json:
        return {"url": "wss://gateway.invalid/", "shards": 1, "session_start_limit": self.identify_limit}

    def application_payload(self) -> Json:
        bot = self._world.bot
        return {
            "id": str(bot.id),
            "name": bot.name,
            "description": "",
            "icon": None,
            "bot_public": True,
            "bot_require_code_grant": False,
            "verify_key": "0" * 64,
            "owner": user_payload(bot),
            "flags": CONTENT_FLAG if self._world.gateway.privileged else 0,
        }

    async def list_all(self, call: Call) -> list[Json]:
        return self._scope(call)

    async def replace(self, call: Call) -> list[Json]:
        self.syncs += 1
        self._composer.refuse(call, list(command_list_problems(call.payload)))
        old = {(each["name"], each["type"]): each["id"] for each in self._scope(call)}
        self._scope(call)[:] = [
            self._kept(call, command, old.get((command["name"], command.get("type", 1)))) for command in call.payload
        ]
        return self._scope(call)

    async def upsert(self, call: Call) -> Json:
        self._composer.refuse(call, list(command_problems("_", call.payload)))
        commands = self._scope(call)
        same = [each for each in commands if each["name"] == call.payload["name"]]
        command = self._kept(call, call.payload, same[0]["id"] if same else None)
        commands[:] = [each for each in commands if each not in same] + [command]
        return command

    async def get(self, call: Call) -> Json:
        return self._named(call)

    async def edit(self, call: Call) -> Json:
        command = self._named(call)
        changed = command | call.payload
        self._composer.refuse(call, list(command_problems("_", changed)))
        command.update(changed)
        return command

    async def delete(self, call: Call) -> None:
        command = self._named(call)
        self._scope(call).remove(command)

    def find(self, name: str, guild_id: int | None, kind: int = 1) -> Json | None:
        """A command as it is offered in a guild (or in a direct message)."""
        scopes = [guild_id, GLOBAL] if guild_id else [GLOBAL]
        for scope in scopes:
            for command in self.commands.get(scope, []):
                if (command["name"], command["type"]) == (name, kind):
                    return command
        return None

    def _kept(self, call: Call, command: Json, known_id: str | None) -> Json:
        kept = {"type": 1, "description": "", "default_member_permissions": None, "options": [], **command}
        kept["options"] = kept["options"] or []
        kept |= {"id": known_id or str(self._world.snowflake()), "application_id": call.params["app"], "version": "1"}
        return kept | {"guild_id": call.params["guild"]} if "guild" in call.params else kept

    def _scope(self, call: Call) -> list[Json]:
        scope = call.number("guild") if "guild" in call.params else GLOBAL
        if scope and scope not in self._world.guilds:
            raise errors.missing_access()
        return self.commands.setdefault(scope, [])

    def _named(self, call: Call) -> Json:
        for command in self._scope(call):
            if command["id"] == call.params["command"]:
                return command
        raise errors.unknown_command()
