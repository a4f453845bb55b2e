"""The command line of Marginalia: `marginalia`, or `python -m bot`."""

import gc
import os
import signal
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Annotated, Any

# Loading the rest takes most of a second. Until the commands can handle it, Ctrl-C just ends the process.
_IS_HANDLED = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if _IS_HANDLED:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import typer
import typer.main

from bot.cli import books, chat, maintenance, run, search
from bot.cli.terminal import complain, console
from domain.errors import MarginaliaError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A bot that reads a book with you: it answers from the book's own pages, cites them, and never spoils.",
)
app.command()(run.run)
app.command()(chat.chat)
app.command(hidden=True)(chat.start)
app.add_typer(books.commands, name="books")
app.command()(search.search)
app.command()(chat.recap)
app.command()(chat.who)
app.command()(chat.discuss)
app.command("eval")(search.evaluate)
app.command()(run.preview)
app.command()(maintenance.check)
app.command()(maintenance.health)
app.command()(run.mcp)
app.command()(maintenance.backup)
app.command()(maintenance.migrate)
if _IS_HANDLED:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit")] = False,
) -> None:
    if version:
        console.print(f"Marginalia {installed_version('marginalia')}")
        raise typer.Exit


def main() -> None:
    """Run the command line; anticipated failures of any command end in a sentence."""
    _open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        _with_named_values(typer.main.get_command(app))()
    except MarginaliaError as error:
        complain(error.message)
        sys.exit(1)
    finally:
        gc.freeze()  # or Python collects everything that was loaded as garbage at exit, which takes up to a second


def _with_named_values(command: Any, parent: typer.Context | None = None) -> Any:
    """The command, whose help names values as documentation does: `--title TITLE`, and none for a switch.

    Typer shows Python's types, `<str>` and `<bool>`, also beside the names of arguments.
    """
    context = typer.Context(command, parent, **command.context_settings)
    for parameter in [*command.params, command.get_help_option(context)]:
        if parameter.metavar is None:
            parameter.metavar = "" if getattr(parameter, "is_flag", False) else parameter.name.upper()
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None
    for each in getattr(command, "commands", {}).values():
        _with_named_values(each, context)
    return command


def _open_missing_streams() -> None:
    """Replace standard streams that were closed before the start, in order: otherwise the next file that is opened,
    such as the database, would take the number of one.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - it stays open


if __name__ == "__main__":
    main()
