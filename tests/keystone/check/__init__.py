"""Proves `stowplan db import` on a real openstack-placement."""
