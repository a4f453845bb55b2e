"""Reading together, each within a bound: what happened so far, who is who, what to talk about."""
