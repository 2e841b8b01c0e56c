"""The web page over the cache."""
