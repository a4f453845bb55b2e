"""One file per format: bytes to pages and chapters."""
