"""Objects of files; for one that has prerequisites and cannot be read, the error says what would be right."""

from __future__ import annotations

from crdgen.cli.command import UsageError
from crdgen.cli.sources import content, parsed
from crdgen.reading import Manifest
from jobgate.importing.document import looks_like_openpai, unquoted
from jobgate.prerequisites.models import GROUP


def objects(file: str) -> list[Manifest]:
    """Return the objects in a file, or from standard input for `-`.

    Raises:
        UsageError: it cannot be read.
    """
    text, name = content(file), "<stdin>" if file == "-" else file
    try:
        return parsed(text, name)
    except UsageError as error:
        raise UsageError(_advice(text.decode(errors="replace"), file, name) or str(error)) from None


def _advice(text: str, file: str, name: str) -> str:
    """Return the command that imports a file of OpenPAI, or the lines of a prerequisite that lack quotes."""
    if looks_like_openpai(text):
        return f"{name}: is an OpenPAI file; run: jobgate import openpai {file}"
    return "\n".join(unquoted(text, name)) if f"{GROUP}/" in text else ""
