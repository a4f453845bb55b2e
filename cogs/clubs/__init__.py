"""Clubs on Discord: a plan card with buttons, a thread for each section, reminders, votes."""
