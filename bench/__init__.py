"""Benchmarks and soak tests. Some write their results into pages of `docs/`."""
