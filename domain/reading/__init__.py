"""Recaps, portraits of characters and questions to discuss, each up to the position of its readers."""
