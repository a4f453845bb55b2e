"""The Python examples of a page of documentation, run as the script they are together."""

import asyncio
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


async def run_examples(page: Path, folder: Path, **environment: str) -> str:
    """Write the ```python blocks of a page into a script, run it in a folder, and return what it prints.

    A failure of the script fails the test, with the script's own traceback.
    """
    blocks = _BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks
    script = folder / f"{page.stem.replace('-', '_')}.py"
    script.write_text("\n\n".join(blocks), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(script),
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, complaints = await process.communicate()
    assert process.returncode == 0, complaints.decode()
    return printed.decode()
