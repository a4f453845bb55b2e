"""marginalia check: is everything set up? Each line says ok, or what to do."""

from rich.text import Text

from bot.checks import Finding, findings
from bot.commands.running import console, run_async
from bot.settings import load_settings


def check() -> None:
    """Check settings, database, model, and Discord's token, intents and permissions."""

    async def work() -> int:
        settings, failures = load_settings(), 0
        async for finding in findings(settings):
            console.print(line(finding), soft_wrap=True)
            failures += not finding.ok
        return 1 if failures else 0

    run_async(work)


def line(finding: Finding) -> Text:
    mark = Text("ok  ", style="green") if finding.ok else Text("!!  ", style="bold red")
    return mark + Text(f"{finding.subject}: ", style="bold") + Text(finding.sentence)
