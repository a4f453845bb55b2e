"""The built-in answerer, which needs no model: it finds the sentences that answer a question, and quotes them."""
