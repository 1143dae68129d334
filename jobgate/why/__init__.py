"""Why a job waits: one answer, from its queue to the nodes, with a fix for each cause.

`look` reads what is needed, with the rights of the caller; `causes` and `nodes` are pure. What holds pods back is
decided in `jobgate.runner.waiting`, from which the runner also writes the status of jobs.
"""
