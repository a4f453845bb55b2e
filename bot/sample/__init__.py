"""The sample novel that comes with the program, and questions to ask about it."""
