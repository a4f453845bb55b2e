"""A turn: from the readers' messages to the answer that is kept."""
