"""Whatever happens to messages and turns, a history is turn by turn, in the order of writing, those that wait last."""

import asyncio
from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from domain.conversation import TurnState
from storage.opening import Storage, open_storage
from tests.storage.values import MIDNIGHT, a_question, an_answer, furnish, ids_of

steps = st.lists(
    st.tuples(st.sampled_from(["arrive", "begin", "answer", "fail", "retry", "delete", "edit"]), st.integers(0, 10**6)),
    max_size=40,
)


@dataclass
class Expected:
    """The same conversation, kept in lists."""

    waiting: list[str] = field(default_factory=list)
    turns: list[tuple[str, list[str]]] = field(default_factory=list)
    arrivals: list[str] = field(default_factory=list)

    @property
    def history(self) -> list[str]:
        return [message for _, messages in self.turns for message in messages] + self.waiting


@given(steps)
def test_any_course_of_events(course: list[tuple[str, int]]) -> None:
    asyncio.run(_play(course))


async def _play(course: list[tuple[str, int]]) -> None:
    expected = Expected()
    async with await open_storage("sqlite:///:memory:") as storage:
        await furnish(storage)
        for moment, (step, choice) in enumerate(course):
            await _take_step(storage, expected, step, choice, str(moment))
            assert await ids_of(storage) == expected.history
        assert await storage.integrity_check() == []


async def _take_step(storage: Storage, expected: Expected, step: str, choice: int, name: str) -> None:
    match step:
        case "arrive":
            await storage.messages.add_incoming(a_question(name))
            expected.waiting.append(name)
            expected.arrivals.append(name)
        case "begin" if expected.waiting:
            named = expected.waiting[: choice % len(expected.waiting) + 1]
            turn = await storage.turns.begin("tea", named, MIDNIGHT)
            expected.waiting = expected.waiting[len(named) :]
            expected.turns.append((turn.id, list(named)))
        case "answer" | "fail" if expected.turns:
            turn_id, messages = expected.turns[choice % len(expected.turns)]
            said = [an_answer(f"{name}-{n}") for n in range(choice % 4)]
            kept = await storage.turns.get(turn_id)
            assert kept is not None
            state = TurnState.ANSWERED if step == "answer" else TurnState.FAILED
            await storage.turns.finish(replace(kept, state=state), said)
            messages += [message.id for message in said]
        case "retry" if expected.turns:
            await _retry(storage, expected, choice % len(expected.turns))
        case "delete" if expected.history:
            message = expected.history[choice % len(expected.history)]
            await storage.messages.delete(message)
            for messages in (expected.waiting, *(each for _, each in expected.turns)):
                if message in messages:
                    messages.remove(message)
        case "edit" if expected.waiting:
            await storage.messages.save(a_question(expected.waiting[choice % len(expected.waiting)], content="edited"))


async def _retry(storage: Storage, expected: Expected, place: int) -> None:
    turn_id, messages = expected.turns[place]
    kept = await storage.turns.get(turn_id)
    assert kept is not None
    if kept.state is TurnState.ANSWERED:
        return
    await storage.turns.reopen(turn_id)
    del expected.turns[place]
    again = [message for message in messages if message in expected.arrivals]
    expected.waiting = sorted(expected.waiting + again, key=expected.arrivals.index)
