"""Delivery: getting posts into a channel and keeping them right, with one writer per channel for drafts and answers."""
