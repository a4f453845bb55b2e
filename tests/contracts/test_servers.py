"""What every storage promises of the settings of servers, of counting what people do, and of what they look for."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from domain.book import ShelfLimits
from domain.errors import BookError, BookErrorCode
from domain.records import LimitedAction, ServerSettings, UsageRecord
from domain.servers import ManageServers, Models
from domain.tool_use import TokenUsage
from storage.opening import Storage
from storage.sql import books
from storage.sql.books import SQLBooks
from storage.sql.conversations import SQLConversations
from storage.sql.people import SQLAllowances
from tests.storage.values import MIDNIGHT, a_book, a_conversation, at

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

    async def test_a_change_while_all_are_loaded_again_is_not_lost(
        self, storage: Storage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        servers, genuine = ManageServers(storage.servers, Models("model")), storage.servers.all
        await servers.load()
        is_read, may_go_on = asyncio.Event(), asyncio.Event()

        async def slow() -> Mapping[str, ServerSettings]:
            found = await genuine()
            is_read.set()
            await may_go_on.wait()
            return found

        monkeypatch.setattr(storage.servers, "all", slow)
        loading = asyncio.create_task(servers.load())  # as another shard begins to be served here
        await is_read.wait()
        changing = asyncio.create_task(servers.change("wonderland", language="de"))
        await asyncio.wait([changing], timeout=0.2)
        may_go_on.set()
        await asyncio.gather(loading, changing)
        assert (await servers.settings("wonderland")).language == "de"

    async def test_servers_that_have_known_the_bot_for_long_are_not_greeted(self, storage: Storage) -> None:
        servers = ManageServers(storage.servers, Models("model"))
        now = datetime.now(UTC)
        past, shortly, later = now - timedelta(days=9), now - timedelta(days=1), now + timedelta(days=9)
        assert await servers.ungreeted({"wonderland": past, "invited first": shortly}) == ["invited first"]
        await servers.note_greeted("invited first")
        assert await servers.ungreeted({"invited first": shortly, "elsewhere": past, "new": later}) == ["new"]
        await servers.note_greeted("new")
        assert await servers.ungreeted({"new": later}) == []


class TestAllowances:
    async def test_so_many_within_the_span_and_then_the_next_is_named(self, storage: Storage) -> None:
        take = storage.allowances.take
        for seconds in (0, 20):
            assert await take("hatter", LimitedAction.ASK, 2, A_MINUTE, MIDNIGHT + timedelta(seconds=seconds)) is None
        late = MIDNIGHT + timedelta(seconds=59)
        assert await take("hatter", LimitedAction.ASK, 2, A_MINUTE, late) == MIDNIGHT + A_MINUTE
        assert await take("dormouse", LimitedAction.ASK, 2, A_MINUTE, late) is None
        assert await take("hatter", LimitedAction.ADD_BOOK, 2, A_MINUTE, late) is None
        assert await take("hatter", LimitedAction.ASK, 2, A_MINUTE, MIDNIGHT + A_MINUTE) is None

    async def test_after_a_clock_was_set_back_nobody_waits_for_the_hours_that_it_was_ahead(
        self, storage: Storage
    ) -> None:
        take = storage.allowances.take
        ahead = MIDNIGHT + timedelta(hours=5)
        assert [await take("hatter", LimitedAction.ASK, 2, A_MINUTE, ahead) for _ in range(3)] == [
            None,
            None,
            ahead + A_MINUTE,
        ]
        assert [await take("hatter", LimitedAction.ASK, 2, A_MINUTE, MIDNIGHT) for _ in range(2)] == [None, None]
        assert await take("hatter", LimitedAction.ASK, 2, A_MINUTE, MIDNIGHT) == MIDNIGHT + A_MINUTE

    async def test_what_is_done_again_about_the_same_counts_once(self, storage: Storage) -> None:
        for _ in range(3):
            assert await storage.allowances.take("hatter", LimitedAction.ASK, 1, A_MINUTE, MIDNIGHT, "a riddle") is None
        assert await storage.allowances.take("hatter", LimitedAction.ASK, 1, A_MINUTE, MIDNIGHT, "another")

    async def test_no_more_pass_at_the_same_moment_on_two_nodes(self, storage: Storage) -> None:
        nodes = [storage.allowances, SQLAllowances(storage.engine)]
        taken = await asyncio.gather(
            *(
                nodes[n % 2].take("hatter", LimitedAction.ASK, 5, A_MINUTE, MIDNIGHT + n * timedelta.resolution)
                for n in range(50)
            )
        )
        assert taken.count(None) == 5

    async def test_who_is_erased_is_still_counted_and_not_by_name(self, storage: Storage) -> None:
        await storage.allowances.take("hatter", LimitedAction.ASK, 1, A_MINUTE, MIDNIGHT)
        await storage.privacy.erase("hatter")
        assert await storage.allowances.take("hatter", LimitedAction.ASK, 1, A_MINUTE, MIDNIGHT) == MIDNIGHT + A_MINUTE
        assert "asked" not in str(await storage.privacy.export("hatter"))


async def test_a_shelf_takes_no_more_at_the_same_moment_on_two_nodes(storage: Storage) -> None:
    nodes, limits = [storage.books, SQLBooks(storage.engine)], ShelfLimits(books=3)

    async def add(number: int) -> BookErrorCode | None:
        try:
            await nodes[number % 2].save(a_book(f"b{number}", sha256=str(number)), limits)
        except BookError as error:
            assert isinstance(error.code, BookErrorCode)
            return error.code
        return None

    added = await asyncio.gather(*map(add, range(50)))
    assert (added.count(None), added.count(BookErrorCode.SHELF_FULL)) == (3, 47)
    [known, *_] = await storage.books.list(a_book().shelf)
    await storage.books.save(replace(known, removed_at=MIDNIGHT), limits)
    await storage.books.save(a_book("another", sha256="another"), limits)
    with pytest.raises(BookError, match="it holds 3 books"):
        await storage.books.save(known, limits)


async def test_a_shelf_takes_so_much_text(storage: Storage) -> None:
    limits = ShelfLimits(megabytes=1)
    await storage.books.save(a_book("half", sha256="1", length=600_000), limits)
    with pytest.raises(BookError, match=r"doesn't fit on the shelf, which holds 1 MB"):
        await storage.books.save(a_book("more", sha256="2", length=400_001), limits)
    await storage.books.save(a_book("rest", sha256="3", length=400_000), limits)
    with pytest.raises(BookError, match="full: it holds 1 MB"):
        await storage.books.save(a_book("one more", sha256="4", length=1), limits)
    await storage.books.save(a_book("elsewhere", shelf="other", sha256="4", length=1), limits)


async def test_use_is_told_by_reader_and_server(storage: Storage) -> None:
    for reader, server, tokens in (("hatter", "a", 1), ("hatter", "a", 2), ("hatter", "b", 4), ("dormouse", "a", 8)):
        await storage.usage.record(UsageRecord(MIDNIGHT, "model", TokenUsage(tokens, 0), reader, server))
    assert (await storage.usage.total_in_guild("hatter", "a", MIDNIGHT)).tokens == 3


async def test_conversations_are_found_by_words_of_title_book_and_day(storage: Storage) -> None:
    await storage.books.save(a_book())
    for number, title in enumerate(("The white RABBIT", "Über 50% Äpfel", "The hatter")):
        await storage.conversations.save(
            a_conversation(f"c{number}", title=title, guild_id="g", created_at=at(number), system_prompt=None)
        )
    find = storage.conversations.find_in_guild

    async def found(*words: str, limit: int = 10, book_id: str | None = None) -> list[str]:
        return [each.id for each in await find("g", words, limit, book_id)]

    assert await found() == ["c2", "c1", "c0"]
    assert await found(limit=1) == ["c2"]
    assert await found("rabbit", "the") == ["c0"]
    assert await found("äpfel") == ["c1"]
    assert await found("über", "ÄPF") == ["c1"]
    assert await found("50%") == ["c1"]
    assert await found("nothing") == []
    assert len(await found(f"{MIDNIGHT:%Y-%m}")) == 3
    assert len(await found(a_book().title.split()[0].lower())) == 3
    assert await found(book_id="another") == []
    assert await find("elsewhere", [], 10) == []


async def test_what_changes_is_found_by_its_new_name(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(books, "WORTH_KEEPING", 1)
    await storage.books.save(a_book())
    other_node = SQLConversations(storage.engine)

    async def found(word: str) -> list[str]:
        [mine, theirs] = [
            [each.title for each in await each_node.find_in_guild("g", [word], 10)]
            for each_node in (storage.conversations, other_node)
        ]
        assert mine == theirs
        return mine

    talk = a_conversation("c", title="Rabbit", guild_id="g", owner_id="hatter")
    await storage.conversations.save(talk)
    assert await found("rabbit") == ["Rabbit"]
    await storage.conversations.update_title("c", "Hatter")
    assert (await found("rabbit"), await found("hatter")) == ([], ["Hatter"])
    await storage.conversations.change("c", lambda it: it.renamed("Dormouse"))
    assert (await found("hatter"), await found("dormouse")) == ([], ["Dormouse"])
    await storage.conversations.save(a_conversation("d", title="Dormouse 2"))
    assert await found("dormouse") == ["Dormouse"]
    await storage.conversations.change("d", lambda it: replace(it, guild_id="g"))
    assert len(await found("dormouse")) == 2
    await storage.conversations.delete("d")
    assert await found("dormouse") == ["Dormouse"]
    await storage.books.save(replace(a_book(), removed_at=MIDNIGHT))
    assert await found("dormouse") == []
    await storage.books.save(a_book())
    assert await found("dormouse") == ["Dormouse"]
    await storage.privacy.erase(talk.owner_id)
    assert await found("dormouse") == []


async def test_names_in_memory_are_bounded(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(books, "WORTH_KEEPING", 2)
    monkeypatch.setattr(books, "NAMES_KEPT", 5)
    monkeypatch.setattr(books, "_PAGE", 2)
    await storage.books.save(a_book())
    for number in range(9):
        guild = f"g{number % 3}"
        await storage.conversations.save(a_conversation(f"c{number}", guild_id=guild))
    repository = SQLConversations(storage.engine)
    for guild in ("g0", "g1", "g2", "g0"):
        assert len(await repository.find_in_guild(guild, ["tea"], 10)) == 3
        assert sum(len(names) for _, names in repository._names._known.values()) <= 5
