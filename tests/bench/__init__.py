"""What the benchmarks reckon with: slopes, ratios, bodies. Nothing here is timed."""
