"""What every storage promises of the settings of servers, and of counting what people do."""

from dataclasses import replace
from datetime import timedelta

from domain.tool_use import TokenUsage
from domain.usage import Deed, ServerSettings, UsageRecord
from storage.opening import Storage
from tests.storage.values import MIDNIGHT

CHOSEN = ServerSettings(
    channels=("1", "2"),
    adder_role="3",
    verbose=False,
    tokens_per_person=1_000,
    tokens_per_server=9_000,
    model="large",
    language="de",
    log_channel="4",
)
A_MINUTE = timedelta(minutes=1)


class TestSettings:
    async def test_a_server_that_chose_nothing_has_the_defaults(self, storage: Storage) -> None:
        assert await storage.servers.get("wonderland") == ServerSettings()

    async def test_what_is_chosen_is_kept_for_that_server_alone(self, storage: Storage) -> None:
        assert await storage.servers.update("wonderland", lambda _: CHOSEN) == CHOSEN
        assert await storage.servers.get("wonderland") == CHOSEN
        assert await storage.servers.get("elsewhere") == ServerSettings()

    async def test_a_change_leaves_the_rest_as_it_is(self, storage: Storage) -> None:
        await storage.servers.update("wonderland", lambda _: CHOSEN)
        await storage.servers.update("wonderland", lambda settings: replace(settings, model="small"))
        assert await storage.servers.get("wonderland") == replace(CHOSEN, model="small")

    async def test_all_are_told_of_those_who_chose_something(self, storage: Storage) -> None:
        await storage.servers.update("wonderland", lambda _: CHOSEN)
        small = await storage.servers.update("elsewhere", lambda settings: replace(settings, model="small"))
        assert await storage.servers.all() == {"wonderland": CHOSEN, "elsewhere": small}

    async def test_deleted_settings_are_the_defaults(self, storage: Storage) -> None:
        await storage.servers.update("wonderland", lambda _: CHOSEN)
        await storage.servers.delete("wonderland")
        await storage.servers.delete("nowhere")
        assert await storage.servers.get("wonderland") == ServerSettings()


class TestAllowances:
    async def test_so_many_within_the_span_and_then_the_next_is_named(self, storage: Storage) -> None:
        take = storage.allowances.take
        for seconds in (0, 20):
            assert await take("hatter", Deed.ASK, 2, A_MINUTE, MIDNIGHT + timedelta(seconds=seconds)) is None
        late = MIDNIGHT + timedelta(seconds=59)
        assert await take("hatter", Deed.ASK, 2, A_MINUTE, late) == MIDNIGHT + A_MINUTE
        assert await take("dormouse", Deed.ASK, 2, A_MINUTE, late) is None
        assert await take("hatter", Deed.ADD_BOOK, 2, A_MINUTE, late) is None
        assert await take("hatter", Deed.ASK, 2, A_MINUTE, MIDNIGHT + A_MINUTE) is None

    async def test_who_is_erased_is_still_counted_and_not_by_name(self, storage: Storage) -> None:
        await storage.allowances.take("hatter", Deed.ASK, 1, A_MINUTE, MIDNIGHT)
        await storage.privacy.erase("hatter")
        assert await storage.allowances.take("hatter", Deed.ASK, 1, A_MINUTE, MIDNIGHT) == MIDNIGHT + A_MINUTE
        assert "asked" not in str(await storage.privacy.export("hatter"))


async def test_use_is_told_by_reader_and_server(storage: Storage) -> None:
    for reader, server, tokens in (("hatter", "a", 1), ("hatter", "a", 2), ("hatter", "b", 4), ("dormouse", "a", 8)):
        await storage.usage.record(UsageRecord(MIDNIGHT, "model", TokenUsage(tokens, 0), reader, server))
    assert (await storage.usage.total_in_guild("hatter", "a", MIDNIGHT)).tokens == 3
