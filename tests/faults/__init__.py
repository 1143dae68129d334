"""Faults of what jobgate needs: what is lost, what is doubled, and how long until all is right again."""
