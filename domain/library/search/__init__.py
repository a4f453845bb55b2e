"""How a book is indexed and searched."""
