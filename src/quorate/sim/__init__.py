"""Traces and virtual time over the scheduling core."""
