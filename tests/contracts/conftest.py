"""Every storage there is, one after the other: whoever adds one adds a line here."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage import Storage, open_storage


@pytest.fixture(params=["sqlite:///{folder}/marginalia.db", "sqlite:///:memory:"], ids=["sqlite", "sqlite in memory"])
async def storage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Storage]:
    """An empty storage of each kind."""
    async with await open_storage(request.param.format(folder=tmp_path)) as opened:
        yield opened
