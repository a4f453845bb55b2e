"""How far readers are, and what is beyond."""
