"""Texts that JSON may hold, half characters (lone surrogates) among them, and what Kubernetes makes of them."""


def utf8(text: str) -> bytes:
    """Return a text in UTF-8; half a character, which JSON may hold, as the three bytes that it would be."""
    return text.encode("utf-8", "surrogatepass")


def as_read(text: str) -> str:
    """Return the text that an API server reads: half a character becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def utf8_as_read(text: str) -> bytes:
    """Return in UTF-8 the text that an API server reads."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return as_read(text).encode()
