"""Clubs: a server reads one book by a plan of sections."""
