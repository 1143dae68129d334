"""The pod webhook: whose a pod is, what is remembered of jobs, and the wiring."""
