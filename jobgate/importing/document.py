"""The YAML of OpenPAI. Its examples have placeholders without quotes, which YAML reads as mappings, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

#: A value, of a key or of a list, that begins with two braces and without quotes.
_BARE: Final = re.compile(r"^(?P<before>\s*(?:-\s+)*(?:[\w.-]+:\s+)?)(?P<value>\{\{.*?)(?P<after>\s+#.*|\s*)$")

#: The words that OpenPAI has and Kubernetes does not.
_WORDS: Final = re.compile(
    r"^[ -]*(?:taskRoles|plugin_params|template_variables|reference_prerequisites)[ ]*:"
    r"|^[ -]*plugin[ ]*:[ ]*(?:cmd|pvc_storage)\b|marketplace://|com\.microsoft\.pai\.",
    re.MULTILINE,
)


class Unreadable(Exception):
    """A text that is no YAML of OpenPAI: where, what is wrong, what would be right, a line each."""


def looks_like_openpai(text: str) -> bool:
    """Tell whether a text speaks of jobs or marketplace items of OpenPAI."""
    return _WORDS.search(text) is not None


def documents(text: str, file: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the jobs and items of a text, each with where it is.

    Raises:
        Unreadable: it is no YAML, or holds something else.
    """
    if bare := list(unquoted(text, file)):
        raise Unreadable("\n".join(bare))
    try:
        found = [one for one in yaml.safe_load_all(text) if one is not None]
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise Unreadable(f"{file}:{line}: is no YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise Unreadable(f"{file}: is no YAML: {str(error).splitlines()[0]}") from None
    for number, document in enumerate(found):
        where = f"{file}[{number}]" if len(found) > 1 else file
        entries = document if isinstance(document, list) else [document]
        for place, entry in enumerate(entries):
            at = f"{where}[{place}]" if isinstance(document, list) else where
            if not isinstance(entry, dict):
                raise Unreadable(f"{at}: must be a job (with taskRoles) or marketplace items (each with a name)")
            if "apiVersion" in entry:
                raise Unreadable(f"{at}: is an object of Kubernetes; only jobs and items of OpenPAI are imported")
            yield at, entry


def unquoted(text: str, file: str) -> Iterator[str]:
    """Yield advice for each placeholder that needs quotes, but not for those in a block of text."""
    block: int | None = None
    for number, line in enumerate(text.splitlines(), 1):
        indent = len(line) - len(line.lstrip())
        if block is not None and (indent > block or not line.strip()):
            continue
        block = indent if re.search(r"[:-]\s+[|>][-+0-9]*\s*(?:#.*)?$", line) else None
        if found := _BARE.match(line):
            value = found["value"].replace("\\", "\\\\").replace('"', '\\"')
            right = f'{found["before"].strip()} "{value}"'.strip()
            yield f"{file}:{number}: {{{{ … }}}} needs quotes, as YAML takes braces for a mapping; write: {right}"
