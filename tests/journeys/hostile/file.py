"""A file that was made to hurt whoever opens it."""

from dataclasses import dataclass

WORDS = "Marta Quill came to the island on a Tuesday in March, and the lamp was dark. "


@dataclass(frozen=True, slots=True)
class HostileFile:
    """`says` is a part of the sentence it ends in; where it is empty, the file may become a book."""

    kind: str
    filename: str
    data: bytes
    says: str = ""
