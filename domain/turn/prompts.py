"""The prompt templates: Markdown files with $placeholders, read once and checked when read."""

from dataclasses import dataclass
from importlib.resources.abc import Traversable
from string import Template

_PLACEHOLDERS = {
    "conversation_system_prompt": {"book"},
    "reformulation_prompt": {"history", "message"},
    "retrieved_passages_prompt": {"query", "passages", "message"},
    "title_prompt": {"question", "answer"},
    "summary_prompt": {"words", "sentences"},
    "recap_prompt": {"words", "language", "story"},
    "portrait_prompt": {"name", "language", "sentences"},
    "discussion_prompt": {"count", "language", "sentences"},
}


@dataclass(frozen=True, slots=True)
class Prompts:
    """`string.Template` and not `str.format`: books are full of braces."""

    conversation_system: Template
    reformulation: Template
    retrieved_passages: Template
    title: Template
    summary: Template
    recap: Template
    portrait: Template
    discussion: Template

    @classmethod
    def load(cls, folder: Traversable) -> "Prompts":
        """Read all templates of a folder.

        Raises:
            FileNotFoundError: one is missing.
            ValueError: one lacks a placeholder, or has one that nothing fills.
        """
        return cls(*(_read(folder, name) for name in _PLACEHOLDERS))


def _read(folder: Traversable, name: str) -> Template:
    template = Template((folder / f"{name}.md").read_text(encoding="utf-8"))
    found = set(template.get_identifiers())
    if not template.is_valid() or found != _PLACEHOLDERS[name]:
        raise ValueError(f"{name}.md must have exactly these placeholders: {sorted(_PLACEHOLDERS[name])}")
    return template
