"""The ways in which a model gets to see the book, and single questions to a model."""
