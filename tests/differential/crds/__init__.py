"""Compares our linter's verdict on CRDs with a real API server's."""
