"""Texts as bytes, of which Kubernetes counts the lengths."""


def utf8(text: str) -> bytes:
    """Return a text in UTF-8; half a character, which JSON may hold, as the three bytes that it would be."""
    return text.encode("utf-8", "surrogatepass")
