"""Meaning shared by several cores; pure."""
