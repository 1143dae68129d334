"""What a rule's name for a property stands for; the other way is `crdgen.escaping`."""

import re
from typing import Final

from crdgen.escaping import escape

_READ: Final = {"underscores": "__", "dash": "-", "dot": ".", "slash": "/"}


def unescape(name: str) -> str | None:
    """Return the property that a rule's name stands for, or None where it stands for none."""
    if "__" not in name:
        return name
    if name.startswith("__") and name.endswith("__") and escape(name[2:-2]) == name:
        return name[2:-2]
    unknown = False

    def plain(found: re.Match[str]) -> str:
        nonlocal unknown
        word = found[0][2:-2]
        unknown |= word not in _READ
        return _READ.get(word, word)

    result = re.sub(r"__[^_]+__", plain, name)
    return None if unknown else result
