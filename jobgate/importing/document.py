"""Reads the YAML of OpenPAI. YAML reads placeholders without quotes, as in its examples, as mappings or errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.reading import UnreadableManifest, read_values
from webhook.text import short

#: A value of a key or list that begins with two braces without quotes.
_BARE: Final = re.compile(r"^(?P<before>\s*(?:-\s+)*(?:[\w.-]+:\s+)?)(?P<value>\{\{.*)$")
_COMMENT: Final = re.compile(r"\s#")
#: Maximum number of reported lines without quotes.
_REPORTED: Final = 100

#: Keys and values that only OpenPAI has.
_WORDS: Final = re.compile(
    r"^[ -]*(?:taskRoles|plugin_params|template_variables|reference_prerequisites)[ ]*:"
    r"|^[ -]*plugin[ ]*:[ ]*(?:cmd|pvc_storage)\b|marketplace://|com\.microsoft\.pai\.",
    re.MULTILINE,
)


class InvalidDocument(Exception):
    """The text is not valid YAML of OpenPAI. Each line of the message is a fault: where it is, and how to fix it."""


def looks_like_openpai(text: str) -> bool:
    """Return whether a text looks like jobs or marketplace items of OpenPAI."""
    return _WORDS.search(text) is not None


def documents(text: str, file: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the jobs and items of a text with their places.

    Raises:
        InvalidDocument: the text is not valid YAML, or contains something else.
    """
    if bare := list(unquoted(text, file)):
        raise InvalidDocument("\n".join(bare))
    try:
        values = read_values(text.encode(), file)
    except UnreadableManifest as error:
        raise InvalidDocument(str(error)) from None
    for number, document in enumerate(values):
        where = f"{file}[{number}]" if len(values) > 1 else file
        entries = document if isinstance(document, list) else [document]
        for place, entry in enumerate(entries):
            at = f"{where}[{place}]" if isinstance(document, list) else where
            if not isinstance(entry, dict):
                raise InvalidDocument(f"{at}: must be a job (with taskRoles) or marketplace items (each with a name)")
            if "apiVersion" in entry:
                raise InvalidDocument(f"{at}: is an object of Kubernetes; only jobs and items of OpenPAI are imported")
            yield at, entry


def unquoted(text: str, file: str) -> Iterator[str]:
    """Yield advice for the first hundred placeholders that need quotes; those in block scalars do not."""
    block: int | None = None
    left = _REPORTED
    for number, line in enumerate(text.splitlines(), 1):
        indent = len(line) - len(line.lstrip())
        if block is not None and (indent > block or not line.strip()):
            continue
        block = indent if re.search(r"[:-]\s+[|>][-+0-9]*\s*(?:#.*)?$", line) else None
        if left and (match := _BARE.match(line)):
            left -= 1
            written = match["value"]
            comment = _COMMENT.search(written)
            value = written[: comment.start() if comment else None].rstrip().replace("\\", "\\\\").replace('"', '\\"')
            right = short(f'{match["before"].strip()} "{value}"'.strip())
            yield f"{file}:{number}: {{{{ … }}}} needs quotes, as YAML takes braces for a mapping; write: {right}"
