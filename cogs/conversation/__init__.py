"""The conversation in threads: what people write there is heard once, answered, and can be changed and taken back."""
