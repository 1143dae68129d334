"""The server, over real TLS on loopback; with raw sockets, where an HTTP client would be too polite."""
