"""Finding and hiding what an answer reveals beyond the readers' position."""
