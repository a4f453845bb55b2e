"""Making files searchable, and searching them."""
