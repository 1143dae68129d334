"""Attacks as tests: what a hostile object, caller or neighbour tries, and the bounds that hold."""
