"""Tests of the benchmarks' helpers. Nothing here is timed."""
