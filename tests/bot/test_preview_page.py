"""The preview: who may speak to its server, and how far a thread goes in which two people write."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from simcord.preview import Preview

from bot.app import open_app
from bot.preview.page import open_preview
from bot.settings import Settings
from tests.doubles.discord_api import PATIENCE_S


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Preview]:
    settings = Settings(_env_file=None, data_dir=tmp_path, llm_provider="extractive")  # type: ignore[call-arg]
    async with open_app(settings) as app, open_preview(app) as page:
        yield page


async def status(page: Preview, path: str = "/api/pages", **headers: str) -> int:
    base = page.url.partition("/#")[0]
    sent = {"X-Simcord-Capability": page.capability} | {name.title(): value for name, value in headers.items()}
    method = "GET" if path == "/" else "POST"
    async with (
        aiohttp.ClientSession() as http,
        http.request(method, f"{base}{path}", headers=sent, json=None if path == "/" else {}) as response,
    ):
        return response.status


async def test_its_own_page_is_let_in_and_others_are_not(page: Preview) -> None:
    port = page.url.partition("/#")[0].rpartition(":")[2]
    assert await status(page, "/") == 200
    let_in = await status(page)
    assert let_in not in (401, 403, 421)
    for own in (f"http://127.0.0.1:{port}", f"http://localhost:{port}"):
        assert await status(page, origin=own) == let_in
    for path in ("/", "/api/pages"):
        for origin in (
            "null", "", "http://evil.example", f"http://evil.example:{port}", "http://127.0.0.1", "http://127.0.0.1:1",
            f"http://user@127.0.0.1:{port}", f"http://127.0.0.1:{port}@evil.example", f"https://127.0.0.1:{port}",
            f"http://127.0.0.1.evil.example:{port}",
        ):  # fmt: skip
            assert await status(page, path, origin=origin) == 403, origin
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"u@127.0.0.1:{port}", "127.0.0.1:1"):
            assert await status(page, path, host=host) == 421, host


async def test_without_the_pages_secret_nothing_is_done(page: Preview) -> None:
    base = page.url.partition("/#")[0]
    async with aiohttp.ClientSession() as http, http.post(f"{base}/api/pages", json={}) as response:
        assert response.status == 401


async def test_whoever_writes_in_the_thread_limits_what_is_told_there(page: Preview) -> None:
    ann, ben = page.viewers
    thread, me = page.channel, page.env.bot.user
    assert me is not None
    page.env.settle_timeout = PATIENCE_S
    await ben.send(thread, "I rather like Varley.")
    await ben.slash(thread, "progress", page="3")
    await ann.send(thread, f"{me.mention} Who is Varley?")
    answer = max(thread.history(), key=lambda each: each.id).content
    assert answer.endswith("-# Answering up to about p. 3, as far as Ben has read.")
