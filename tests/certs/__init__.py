"""Mirrors `certs`: tables, then handshakes with the clients that matter."""
