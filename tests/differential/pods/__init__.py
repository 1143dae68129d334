"""Our verdict on pod templates against that of a real API server, case by case.

`cases` makes mutated Pods, `answer` asks the API server (a dry-run create), and our schema and rules,
`comparison` lays the answers side by side and `report` writes them down. `python -m tests.differential.pods` runs all of it.
"""
