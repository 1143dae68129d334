"""Queues: which jobs may run, and why others wait.

- `selectors`: whose turn it is; pure
- `admission`: which jobs are released; pure
- `demand`: what jobs ask for, and what ResourceQuotas leave to them; pure
- `file`: the file of queues
"""
