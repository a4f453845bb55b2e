"""Indexed books as files: one SQLite file per book, written once and read-only from then on."""
