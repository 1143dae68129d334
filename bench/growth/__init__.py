"""`python -m bench.growth`: how CPU and memory of `jobgate serve` grow with what it is given.

- `series`: a line of points, and its slope
- `probe`: a server of its own for each point, and requests to it
- `requests`: tasks of a job, bytes of a body
- `stored`: jobs in the pods' cache
- `kinds`: kinds that are served; they are made here
- `connections`: that are open at once
"""
