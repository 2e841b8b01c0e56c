"""The loop, and one thin adapter a controller."""
