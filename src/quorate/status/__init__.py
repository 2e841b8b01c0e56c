"""Objects in, status out; pure."""
