"""Asks Go for the matches of random patterns, valid and invalid."""
