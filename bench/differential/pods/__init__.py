"""Our verdict on pod templates against that of a real API server, case by case.

`cases` makes mutated Pods, `oracle` asks the API server (a dry-run create), `verdict` asks our schema and rules,
`comparison` lays the answers side by side and `report` writes them down. `bench/pod_templates.py` runs all of it.
"""
