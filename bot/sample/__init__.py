"""The sample novel that comes with the program, and questions to ask of it."""
