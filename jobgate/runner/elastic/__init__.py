"""Elastic jobs: how many pods each gets, within its bounds. Pure.

- `decision`: the next step of all jobs together, by the room that is left
- `sizes`: the size of one job, as it is stored and observed
"""
