"""How a model gets to see the book, and single questions to it."""
