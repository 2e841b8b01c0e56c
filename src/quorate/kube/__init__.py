"""All network I/O with an API server."""
