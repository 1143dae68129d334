"""The demo of jobgate on a real API server: `make demo`."""
