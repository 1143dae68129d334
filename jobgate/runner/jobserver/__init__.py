"""The server of jobs: pods ask it for replicas of their job, and report metrics. Its paths are those of di-server.

`access` is pure: what pods get to reach it. `server` answers, in every replica of the runner.
"""
