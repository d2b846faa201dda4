"""Runs the functional suite of Placement against a server."""
