"""Every storage there is, one after the other: whoever adds one adds a line here."""

from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from storage.opening import Storage, open_storage
from tests.postgres import an_emptied_database
from tests.sqlite import lay_out


@pytest.fixture(params=["sqlite", "sqlite in memory", "postgres"])
async def storage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Storage]:
    """An empty storage of each kind."""
    with ExitStack() as stack:
        match request.param:
            case "sqlite":
                lay_out(tmp_path / "marginalia.db")
                url = f"sqlite:///{tmp_path}/marginalia.db"
            case "sqlite in memory":
                url = "sqlite:///:memory:"
            case _:
                url = stack.enter_context(an_emptied_database())
        async with await open_storage(url) as opened:
            yield opened
