"""How far readers are, and what lies beyond."""
