"""What became of a person's data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Erasure:
    """What was erased, and what is left to remove where it was shown.

    `thread_ids` are the threads of conversations that are gone. `replies` are answers that are gone from conversations
    that go on, each as (id of the thread, id of the message).
    """

    messages: int = 0
    conversations: int = 0
    thread_ids: tuple[str, ...] = ()
    replies: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Sweep:
    """What has been erased because its time was over: counts."""

    conversations: int = 0
    tool_results: int = 0
    book_files: int = 0

    def __bool__(self) -> bool:
        return bool(self.conversations or self.tool_results or self.book_files)
