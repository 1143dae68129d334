"""Measurements that make pages of `docs/`."""
