"""Wire types: parse and default only, nothing is decided here."""
