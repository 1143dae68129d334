"""Escape property names for CEL (k8s.io/apiserver, pkg/cel/escaping.go)."""

import re
from typing import Final

#: Reserved words of CEL.
RESERVED: Final = frozenset(
    {
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop"),
        *("namespace", "null", "package", "return", "true", "var", "void", "while"),
    }
)
_WORDS: Final = {"__": "__underscores__", "-": "__dash__", ".": "__dot__", "/": "__slash__"}
_NAME: Final = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*")


def escape(name: str) -> str | None:
    """Return the property's name in CEL, as `x__dash__prop` for `x-prop`; None if CEL cannot express it."""
    if not _NAME.fullmatch(name):
        return None
    if name in RESERVED:
        return f"__{name}__"
    return re.sub(r"__|[-./]", lambda match: _WORDS[match[0]], name)
