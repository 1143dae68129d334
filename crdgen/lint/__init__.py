"""Lint CustomResourceDefinitions by the rules of the API server.

`lint()` takes a whole CustomResourceDefinition, `check_structural()` the schema of a whole object. Both accept any
JSON. `rejections()` returns only the errors.

`crdgen.decode.decoder` decodes documents with the types in `shape`. Each schema becomes a list of nodes (`node`), which
the rules check. A rule is a function (`rule`); each file has a family of rules. `checking` runs them.
"""

from crdgen.lint.checking import check_structural, lint, rejections
from crdgen.lint.rule import Finding
from crdgen.severity import Severity

__all__ = ["Finding", "Severity", "check_structural", "lint", "rejections"]
