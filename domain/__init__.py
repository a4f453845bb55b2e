"""The core: what a book, a conversation and a turn are, and how an answer is made. Standard library only."""
