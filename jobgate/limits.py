"""Limits of a job that models, rules, commands and the runner share."""

from __future__ import annotations

from typing import Final

#: Default limit of pods in a job. Highest limit: the API server's of `parallelism` for Indexed Jobs.
JOB_PODS: Final = 10_000
PODS_LIMIT: Final = 100_000

#: Maximum entries of a list or map in a job: tasks, volumes, policies, dependencies of a task. Time and memory of a
#: review are measured up to this number (docs/explanation/performance.md).
ENTRIES_LIMIT: Final = 1000
