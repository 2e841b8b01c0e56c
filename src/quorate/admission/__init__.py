"""Object in, field errors, warnings or a patch out; pure."""
