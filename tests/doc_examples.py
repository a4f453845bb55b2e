"""The Python examples of a page of documentation, run as they stand."""

import ast
import inspect
import re
from pathlib import Path
from types import CodeType
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def python_blocks(page: Path) -> list[CodeType]:
    """Every ```python block, compiled so that a failure points at its line on the page."""
    text = page.read_text(encoding="utf-8")
    return [_compiled(match[1], page, text.count("\n", 0, match.start(1))) for match in _BLOCK.finditer(text)]


async def run_block(block: CodeType, names: dict[str, Any]) -> None:
    """Run a block in a namespace shared with the other blocks of its page; it may await."""
    result = eval(block, names)
    if inspect.isawaitable(result):
        await result


def _compiled(source: str, page: Path, lines_before: int) -> CodeType:
    code = "\n" * lines_before + source
    compiled: CodeType = compile(code, str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    return compiled
