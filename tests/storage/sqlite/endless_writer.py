"""Asks and answers in the database named on the command line until it is killed, and says what it was promised.

Each line on standard output is the id of a message or of a turn's answer that was kept when the line was written.
"""

import asyncio
import sys
import uuid
from dataclasses import replace

from domain.conversation import TurnState
from storage.opening import open_storage
from tests.storage.values import MIDNIGHT, a_question, everything_said


async def write_for_ever(url: str) -> None:
    async with await open_storage(url) as storage:
        while True:
            question = a_question(uuid.uuid4().hex, external_id=uuid.uuid4().hex)
            await storage.messages.add_incoming(question)
            _promise(question.id)
            turn = await storage.turns.begin("tea", [question.id], MIDNIGHT)
            said = [replace(message, id=f"{turn.id}-{message.id}") for message in everything_said()]
            await storage.turns.finish(replace(turn, state=TurnState.ANSWERED), said)
            _promise(said[-1].id)


def _promise(kept: str) -> None:
    sys.stdout.write(f"{kept}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(write_for_ever(sys.argv[1]))
