"""Objects of many schemas, judged here and by a real API server."""
