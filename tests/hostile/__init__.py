"""Attacks as tests: by hostile objects, callers and neighbours; the bounds must hold."""
