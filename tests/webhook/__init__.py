"""Admission: its words, tried on a toy kind, and its server, over real TLS on loopback."""
