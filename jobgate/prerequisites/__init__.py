"""Prerequisites: shared data, hooks and storage that a job just names."""
