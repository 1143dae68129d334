"""Compares our verdict on pod templates with a real API server's.

`cases` generates mutated Pods. `answer` gets the verdicts of the API server (by a dry-run create) and of our schema and
rules, `comparison` compares them, and `report` writes the page. `python -m tests.differential.pods` runs all of it.
"""
