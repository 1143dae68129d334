"""The main job, shown on a real API server of your own: `make demo`."""
