"""Databases of Nova, what is written into them, and what must come of it."""
