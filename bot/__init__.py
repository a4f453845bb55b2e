"""The running program and the plugs it is fitted with."""
