"""The Discord front end: read the event, call one use case, render the result."""
