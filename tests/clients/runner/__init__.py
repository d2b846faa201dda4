"""Drives a server with OpenStack's own clients."""
