"""How things get into a channel, and stay right there: one pump per channel, one path for drafts and answers."""
