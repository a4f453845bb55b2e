"""Reading together: what happened so far, who is who, what to talk about; each within a bound, with a model or without."""
