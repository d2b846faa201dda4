"""Puts a real Keystone before the door of stowplan."""
