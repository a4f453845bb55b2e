"""Delivery: posts messages and keeps them up to date, with one writer per channel for drafts and answers."""
