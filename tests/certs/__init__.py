"""Tests of `certs`: tables, and handshakes with OpenSSL and Go."""
