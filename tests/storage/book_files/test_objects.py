"""Books in an object store: every node answers from them, keeps some of them on its disk, and trusts none unchecked."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import AsyncMock

import obstore
import pytest
from obstore.exceptions import GenericError
from obstore.store import ObjectStore, S3Store

from domain.errors import BookError, BookErrorCode, SettingsError, StorageError
from storage.book_files import objects
from storage.book_files.objects import CachedBookFiles, open_store, try_store
from storage.opening import Storage, open_storage
from tests.storage.book_files.test_files import SHA, a_book, a_text

TEXT = a_text(2_000)
BOOK = a_book(TEXT)


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of an S3 server. It takes half a second to load, which not every worker needs that only collects."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(params=["file", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store of each kind, empty."""
    if request.param == "file":
        return f"file://{tmp_path}/store"
    address, bucket = request.getfixturevalue("s3"), f"books-{time.time_ns()}"
    for name, value in {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "hatter",
        "AWS_SECRET_ACCESS_KEY": "tea",
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    make_bucket(address, bucket)
    return f"s3://{bucket}/club"


def make_bucket(address: str, bucket: str) -> None:
    import urllib.request

    urllib.request.urlopen(urllib.request.Request(f"{address}/{bucket}", method="PUT")).close()


class Node:
    """A machine: its disk, and what it shares with the others."""

    def __init__(self, folder: Path, url: str, storage: Storage, cache_mb: int = 100) -> None:
        self.folder = folder
        self.files = CachedBookFiles(folder, store=open_store(url), objects=storage.book_objects, cache_mb=cache_mb)

    @property
    def kept(self) -> set[str]:
        return {path.stem for path in self.folder.glob("*.book")}


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[Storage]:
    async with await open_storage(f"sqlite:///{tmp_path}/marginalia.db") as opened:
        yield opened


@pytest.fixture
def nodes(tmp_path: Path, url: str, storage: Storage) -> tuple[Node, Node]:
    return Node(tmp_path / "one", url, storage), Node(tmp_path / "two", url, storage)


async def only_object(store: ObjectStore) -> str:
    [found] = [each["path"] async for batch in obstore.list(store) for each in batch]
    return str(found)


async def test_a_trial_leaves_nothing_in_a_store(url: str) -> None:
    await try_store(url)
    assert [each["path"] async for batch in obstore.list(open_store(url)) for each in batch] == []


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"])
async def test_whichever_variable_names_a_store_without_https_it_is_reached(
    s3: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    make_bucket(s3, bucket := f"books-{time.time_ns()}")
    for variable, value in {name: s3, "AWS_ACCESS_KEY_ID": "hatter", "AWS_SECRET_ACCESS_KEY": "tea"}.items():
        monkeypatch.setenv(variable, value)
    await try_store(f"s3://{bucket}/club")


async def test_a_trial_says_why_a_store_refuses(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"ENDPOINT_URL": s3, "ACCESS_KEY_ID": "hatter", "SECRET_ACCESS_KEY": "tea"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    with pytest.raises(SettingsError, match=r"404 Not Found.*Check BOOKS_URL"):
        await try_store("s3://nowhere/club")


async def test_what_one_node_adds_another_reads(nodes: tuple[Node, Node]) -> None:
    one, two = nodes
    words = await one.files.write(SHA, TEXT)
    opened = await two.files.open(BOOK)
    assert await opened.text() == TEXT.text
    assert await two.files.write(SHA, TEXT) == words
    assert one.kept == two.kept == {SHA}


async def test_many_who_open_a_book_at_once_fetch_it_once(
    nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = nodes
    await one.files.write(SHA, TEXT)
    fetched, fetch = 0, obstore.get_async

    async def counting(store: ObjectStore, path: str) -> object:
        nonlocal fetched
        fetched += 1
        return await fetch(store, path)

    monkeypatch.setattr(obstore, "get_async", counting)
    opened = await asyncio.gather(*(two.files.open(BOOK) for _ in range(20)))
    assert {await each.text() for each in opened} == {TEXT.text}
    assert fetched == 1


async def test_a_copy_that_goes_while_the_book_is_read_is_fetched_again(nodes: tuple[Node, Node]) -> None:
    one, _ = nodes
    await one.files.write(SHA, TEXT)
    opened = await one.files.open(BOOK)
    (one.folder / f"{SHA}.book").unlink()
    assert await opened.text() == TEXT.text


async def test_a_copy_that_is_damaged_is_fetched_again(nodes: tuple[Node, Node]) -> None:
    one, _ = nodes
    await one.files.write(SHA, TEXT)
    await one.files.close()
    (one.folder / f"{SHA}.book").write_bytes(b"tea and treacle")
    opened = await one.files.open(BOOK)
    assert await opened.text() == TEXT.text
    assert opened.damage is None


async def test_an_object_that_is_not_what_was_stored_is_a_sentence(nodes: tuple[Node, Node], url: str) -> None:
    one, two = nodes
    await one.files.write(SHA, TEXT)
    store = open_store(url)
    await obstore.put_async(store, await only_object(store), b"tea and treacle")
    with pytest.raises(BookError, match="is damaged; please add it again") as refused:
        await two.files.open(BOOK)
    assert refused.value.code is BookErrorCode.INVALID_STATE
    await two.files.write(SHA, TEXT)
    assert await (await two.files.open(BOOK)).text() == TEXT.text


async def test_a_missing_object_is_a_sentence_and_adding_the_book_again_brings_it_back(
    nodes: tuple[Node, Node], url: str
) -> None:
    one, two = nodes
    await one.files.write(SHA, TEXT)
    store = open_store(url)
    await obstore.delete_async(store, await only_object(store))
    with pytest.raises(BookError, match="please add it again"):
        await two.files.open(BOOK)
    await one.files.write(SHA, TEXT)
    assert await (await two.files.open(BOOK)).text() == TEXT.text


async def test_a_store_that_does_not_answer_is_no_damage(
    nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = nodes
    await one.files.write(SHA, TEXT)

    async def hang(*_: object) -> None:
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(obstore, "get_async", hang)
        patch.setattr(objects, "CALL_TIMEOUT_S", 0.05)
        with pytest.raises(BookError, match="try again in a minute") as refused:
            await two.files.open(BOOK)
    assert refused.value.code is not BookErrorCode.INVALID_STATE
    assert await (await two.files.open(BOOK)).text() == TEXT.text


async def test_what_was_not_used_for_longest_makes_room(tmp_path: Path, url: str, storage: Storage) -> None:
    node = Node(tmp_path / "small", url, storage)
    names = [str(number) * 64 for number in range(4)]
    for age, name in enumerate(names):
        await node.files.write(name, a_text(2_000))
        os.utime(node.folder / f"{name}.book", (age, age))
    await node.files.open(replace(BOOK, sha256=names[0]))
    size = (node.folder / f"{names[0]}.book").stat().st_size
    node.files._limit = 3 * size
    await node.files.write("9" * 64, a_text(2_000))
    assert node.kept == {names[0], names[3], "9" * 64}
    assert await (await node.files.open(replace(BOOK, sha256=names[1]))).text() == a_text(2_000).text


async def test_a_book_that_is_removed_is_gone_everywhere(nodes: tuple[Node, Node], url: str) -> None:
    one, two = nodes
    await one.files.write(SHA, TEXT)
    await one.files.remove(SHA)
    await one.files.remove(SHA)
    assert [batch async for batch in obstore.list(open_store(url))] in ([], [[]])
    with pytest.raises(BookError):
        await two.files.open(BOOK)


async def test_what_the_store_did_not_delete_is_deleted_the_next_time(
    nodes: tuple[Node, Node], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = nodes
    await one.files.write(SHA, TEXT)
    with monkeypatch.context() as patch:
        patch.setattr(obstore, "delete_async", AsyncMock(side_effect=OSError("out of reach")))
        with pytest.raises(StorageError, match="store of books"):
            await one.files.remove(SHA)
    assert one.kept == set()
    assert await two.files.written_before(datetime.now(UTC)) == [SHA]
    await two.files.remove(SHA)
    assert [batch async for batch in obstore.list(open_store(url))] in ([], [[]])
    assert await two.files.written_before(datetime.now(UTC)) == []


async def test_what_a_killed_node_left_in_the_store_is_found(
    nodes: tuple[Node, Node], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = nodes
    put = obstore.put_async

    async def put_and_die(store: ObjectStore, path: str, content: bytes) -> None:
        await put(store, path, content)
        raise asyncio.CancelledError

    with monkeypatch.context() as patch:
        patch.setattr(obstore, "put_async", put_and_die)
        with pytest.raises(asyncio.CancelledError):
            await one.files.write(SHA, TEXT)
    assert await two.files.written_before(datetime.now(UTC)) == [SHA]
    await two.files.remove(SHA)
    assert [batch async for batch in obstore.list(open_store(url))] in ([], [[]])


async def test_the_copies_of_other_nodes_go_as_well(nodes: tuple[Node, Node]) -> None:
    one, two = nodes
    used, kept = "9" * 64, "8" * 64
    for name in (SHA, used, kept):
        await one.files.write(name, TEXT)
        await two.files.open(replace(BOOK, sha256=name))
    for name in (SHA, kept):
        os.utime(two.folder / f"{name}.book", (0, 0))
    await one.files.remove(SHA)
    await one.files.remove(used)
    keeping = asyncio.create_task(two.files.keep_copies())
    while SHA in two.kept:
        await asyncio.sleep(0.01)
    keeping.cancel()
    assert two.kept == {used, kept}, "what was used a moment ago may be on its way to the store"


async def test_books_stored_before_a_moment_can_be_found(nodes: tuple[Node, Node]) -> None:
    one, two = nodes
    await one.files.write(SHA, TEXT)
    stored = await one.files._objects.get(SHA)
    assert stored is not None
    assert await two.files.written_before(stored.stored_at) == []
    assert await two.files.written_before(stored.stored_at.replace(year=2999)) == [SHA]


async def test_a_store_that_refuses_is_a_sentence(
    tmp_path: Path, s3: str, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "hatter")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "tea")
    node = Node(tmp_path / "one", "s3://no-such-bucket/club", storage)
    with pytest.raises(StorageError, match="store of books"):
        await node.files.write(SHA, TEXT)
    assert isinstance(node.files._store, S3Store)


@pytest.mark.parametrize("trouble", [GenericError("503"), TimeoutError()])
async def test_while_the_store_does_not_answer_copies_are_read(
    nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch, trouble: Exception
) -> None:
    one, two = nodes
    await one.files.write(SHA, TEXT)
    with monkeypatch.context() as patch:
        patch.setattr(obstore, "get_async", AsyncMock(side_effect=trouble))
        with pytest.raises(BookError, match="try again in a minute") as refused:
            await two.files.open(BOOK)
        assert refused.value.code is BookErrorCode.TIMED_OUT
        assert await (await one.files.open(BOOK)).text() == TEXT.text
    assert await (await two.files.open(BOOK)).text() == TEXT.text


async def test_a_store_goes_on_when_its_keys_have_left_the_environment(
    tmp_path: Path, url: str, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = Node(tmp_path / "one", url, storage)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert await node.files.write(SHA, TEXT)
    await node.files.remove(SHA)


@pytest.mark.parametrize("url", ["", "books", "ftp://host/books"])
def test_a_url_that_names_no_store_is_a_setting_to_be_mended(url: str) -> None:
    with pytest.raises(SettingsError, match="BOOKS_URL"):
        open_store(url)
