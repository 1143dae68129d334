"""Escapes property names for CEL (k8s.io/apiserver, pkg/cel/escaping.go)."""

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
_UNESCAPED: Final = {"underscores": "__", "dash": "-", "dot": ".", "slash": "/"}
_NAME: Final = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*")


def escape(name: str) -> str | None:
    """Return the property's name in CEL, as `x__dash__prop` for `x-prop`; None if CEL cannot reach it."""
    if not _NAME.fullmatch(name):
        return None
    if name in RESERVED:
        return f"__{name}__"
    return re.sub(r"__|[-./]", lambda found: _WORDS[found[0]], name)


def unescape(name: str) -> str | None:
    """Return the property for a name in CEL, or None if there is none."""
    if "__" not in name:
        return name
    if name.startswith("__") and name.endswith("__") and escape(name[2:-2]) == name:
        return name[2:-2]
    unknown = False

    def plain(found: re.Match[str]) -> str:
        nonlocal unknown
        word = found[0][2:-2]
        unknown |= word not in _UNESCAPED
        return _UNESCAPED.get(word, word)

    result = re.sub(r"__[^_]+__", plain, name)
    return None if unknown else result
