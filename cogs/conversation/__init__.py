"""Conversations in threads: accepts what people write there, answers it, and follows their edits and deletions."""
