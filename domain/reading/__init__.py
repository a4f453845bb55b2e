"""Reading together, each person up to their own position: recaps, portraits of characters, questions to discuss."""
