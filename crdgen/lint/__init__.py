"""A linter that thinks like the API server, for any CustomResourceDefinition, whoever made it.

`lint()` takes a whole CustomResourceDefinition, `check_structural()` the schema of a whole object. Neither raises,
whatever JSON it is given. `text()`, `as_json()` and `sarif()` write findings, by file.

A document is decoded (`decoding`, by the shapes in `shape`), each schema becomes a list of nodes that know their
surroundings (`node`), and the rules look at those: one family a file, one function a rule (`rule`).
"""

from crdgen.lint.checking import RULES, check_structural, lint
from crdgen.lint.finding import Finding, Severity
from crdgen.lint.output import as_json, text
from crdgen.lint.sarif import sarif

__all__ = ["RULES", "Finding", "Severity", "as_json", "check_structural", "lint", "sarif", "text"]
