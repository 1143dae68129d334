"""Cases for which our verdicts are compared with those of a real API server; the tests run a sample of them."""
