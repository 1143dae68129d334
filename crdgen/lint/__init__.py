"""Lints CustomResourceDefinitions with the rules of the API server.

`lint()` takes a whole CustomResourceDefinition, `check_structural()` the schema of a whole object. Neither raises,
whatever JSON it is given. `output` writes findings, by file.

Documents are decoded by `crdgen.decode.decoder` with the types in `shape`. Each schema becomes a list of
nodes (`node`), which the rules check. A rule is a function (`rule`); each file has one family of rules. `checking` runs
them.
"""

from collections.abc import Mapping
from typing import Any

from crdgen.lint.checking import check, check_structural
from crdgen.lint.rule import Finding, Severity

__all__ = ["Finding", "Severity", "check_structural", "lint"]


def lint(definition: Mapping[str, Any], *, strict: bool = True) -> list[Finding]:
    """Return what the API server refuses in a CustomResourceDefinition, and what it takes but will surprise.

    Never raises, whatever JSON it is given, and takes time linear in it.

    Args:
        definition: the whole object, read as JSON.
        strict: take an unknown field for refused, as `kubectl` has it (it asks for `fieldValidation=Strict`); otherwise
            it is surprising: the API server drops it with a warning.
    """
    return check(definition, strict=strict)
