"""Reads files with entries. Errors name line, field and what would be right."""

from __future__ import annotations

from crdgen.reading.entries import InvalidEntries, read_each
from jobgate.configured.entry import Entry


def read_entries(text: bytes, name: str) -> list[Entry]:
    """Return the entries in a file, one a document; `name` is that of the file, for messages.

    Raises:
        InvalidEntries: the file is not YAML, or an entry is invalid; each line of the message is a fault.
    """
    if entries := read_each(text, name, Entry):
        return entries
    raise InvalidEntries(f"{name}: contains no kind: begin with group, versions, kind and plural")
