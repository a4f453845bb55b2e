"""How an answer is made."""
