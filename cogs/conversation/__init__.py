"""The conversation in threads: what people write there is taken in once, answered, and follows their edits and
deletions.
"""
