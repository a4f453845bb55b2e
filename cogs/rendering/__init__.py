"""What is shown, as plain data: no Discord in here, so that it can be read and tested alone."""
