"""Objects of many schemas, evaluated locally and by a real API server."""
