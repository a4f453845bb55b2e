"""A turn: from the readers' messages to the stored answer."""
