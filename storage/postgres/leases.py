"""Leases in PostgreSQL, timed by the server's clock."""

import json
import time
from collections.abc import Collection, Mapping

from domain.concurrency import MARGIN_S, HeldLease
from storage.postgres.database import PostgresDatabase

_ACQUIRE = """
INSERT INTO leases (name, holder, epoch, expires_at)
VALUES (?1, ?2, 1, clock_timestamp() + make_interval(secs => ?3))
ON CONFLICT (name) DO UPDATE
  SET holder = excluded.holder, epoch = leases.epoch + 1, expires_at = excluded.expires_at
  WHERE leases.expires_at <= clock_timestamp()
RETURNING epoch, state, CAST(extract(epoch FROM clock_timestamp()) AS double precision) AS now
"""

_RENEW_ALL = """
UPDATE leases SET expires_at = clock_timestamp() + make_interval(secs => ?2) WHERE holder = ?1 RETURNING name, epoch
"""

_RENEW = """
UPDATE leases SET expires_at = clock_timestamp() + make_interval(secs => ?2), state = CAST(?3 AS json) ->> name
WHERE holder = ?1 AND CAST(?3 AS json) ->> name IS NOT NULL RETURNING name, epoch
"""

# The epoch is kept, so that the next holder gets a new one.
_RELEASE = """
UPDATE leases SET holder = '', expires_at = clock_timestamp(), state = ?4 WHERE name = ?1 AND holder = ?2 AND epoch = ?3
"""

_HELD = """
SELECT name FROM leases
WHERE starts_with(name, ?1) AND holder <> '' AND expires_at > clock_timestamp() - make_interval(secs => ?2)
"""

_NOTE = """
INSERT INTO leases (name, holder, epoch, expires_at, state) VALUES (?1, '', 0, '-infinity', ?2)
ON CONFLICT (name) DO UPDATE SET state = excluded.state
"""

# The row stays locked until the note is written, so that nobody takes the lease in between.
_NOTE_UNDER = """
WITH held AS (SELECT 1 FROM leases WHERE name = ?3 AND holder = ?4 AND epoch = ?5 FOR SHARE)
INSERT INTO leases (name, holder, epoch, expires_at, state) SELECT ?1, '', 0, '-infinity', ?2 FROM held
ON CONFLICT (name) DO UPDATE SET state = excluded.state
"""

_CLEAR = "DELETE FROM leases WHERE starts_with(name, ?1) AND expires_at < clock_timestamp() - INTERVAL '1 hour'"


HURRY_S = 2.0
"""For a statement on which it depends whether a lease goes on: there is time for another one before it expires."""


class PostgresLeases:
    """LeaseRepository in PostgreSQL. Each method is one statement, which holds a lock while it runs."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._hurried = database.with_timeout(HURRY_S)

    async def acquire(self, name: str, holder: str, seconds: float) -> HeldLease | None:
        asked = time.monotonic()
        rows = await self._hurried.write(_ACQUIRE, [name, holder, seconds])
        if not rows:
            return None
        epoch, note, now = rows[0]["epoch"], rows[0]["state"], rows[0]["now"]
        return HeldLease(name, holder, epoch, asked + seconds - MARGIN_S, note, now - time.monotonic())

    async def renew(
        self, holder: str, seconds: float, notes: Mapping[str, str] | None = None
    ) -> Collection[tuple[str, int]]:
        if notes is None:
            rows = await self._hurried.write(_RENEW_ALL, [holder, seconds])
        else:
            rows = await self._hurried.write(_RENEW, [holder, seconds, json.dumps(dict(notes))])
        return {(row["name"], row["epoch"]) for row in rows}

    async def release(self, lease: HeldLease) -> None:
        await self._database.write(_RELEASE, [lease.name, lease.holder, lease.epoch, lease.note])

    async def list_held(self, prefix: str, late_s: float = 0.0) -> Collection[str]:
        return {row["name"] for row in await self._hurried.read(_HELD, [prefix, late_s])}

    async def get_note(self, name: str) -> str:
        row = await self._database.read_one("SELECT state FROM leases WHERE name = ?", [name])
        return "" if row is None else str(row["state"])

    async def set_note(self, name: str, note: str, under: HeldLease | None = None) -> None:
        if under is None:
            await self._database.write(_NOTE, [name, note])
        else:
            await self._database.write(_NOTE_UNDER, [name, note, under.name, under.holder, under.epoch])

    async def clear(self, prefix: str) -> None:
        await self._database.write(_CLEAR, [prefix])
