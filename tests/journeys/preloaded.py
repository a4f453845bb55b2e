"""What the process loads from which the command line is forked: what each would load or make anew is there once."""

import gc
from importlib import import_module

gc.disable()  # all of it stays
LOADED = (
    # nothing that is another in each process: `bot.logs` has its name, `bot.cli` knows how wide the terminal is
    *("anthropic.resources.messages", "genai_prices.data", "httpcore2", "rich.markdown", "rich.progress", "typer"),
    *(
        "bot.app",
        "bot.gutendex",
        "bot.mcp.server",
        "bot.providers.anthropic.client",
        "bot.providers.extractive.client",
        "bot.providers.extractive.replies",
        "bot.providers.extractive.planning",
    ),
    *("cogs.basics", "cogs.books", "cogs.clubs.cog", "cogs.conversation.cog", "cogs.conversations"),
    *("cogs.menus", "cogs.privacy", "cogs.progress", "cogs.reading", "cogs.removals", "cogs.settings"),
    *("statistics", "storage.postgres.database", "storage.sqlite.database"),
)
for name in LOADED:
    import_module(name)
page_numbers = import_module("domain.citations.page_numbers")
page_numbers.TypedPages(lambda *_: False).remove("Page one, on 25. It is (38 below).")  # compiles for half a second
gc.collect()
gc.freeze()  # a collection in a forked process would copy all of it, by looking at it
gc.enable()
