"""What Discord shows: read the event, call one thing, render."""
