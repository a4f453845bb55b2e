"""The bot in a small Discord of its own, shown as a page in the browser. It needs the extra simcord[preview]."""
