"""From what a model says it rests on to pages that code has checked."""
