"""One file or package per format: bytes to text, pages and chapters."""
