"""Plain types: types of values in which the rules surely find no fault, checked by msgspec in C.

A plain type may reject valid values, but never accepts a value that a rule reports. The formats come from `names`.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import Meta

from jobgate import names


def whole_text(pattern: str) -> str:
    """Return the pattern for a match of the whole text, because msgspec searches."""
    return rf"\A(?:{pattern})\Z"


DnsLabel: TypeAlias = Annotated[str, Meta(pattern=whole_text(names.LABEL), max_length=names.LABEL_LIMIT)]
DnsSubdomain: TypeAlias = Annotated[str, Meta(pattern=whole_text(names.SUBDOMAIN), max_length=names.SUBDOMAIN_LIMIT)]
#: Short enough for each part to keep its own limit.
QualifiedName: TypeAlias = Annotated[str, Meta(pattern=whole_text(names.QUALIFIED_NAME), max_length=names.LABEL_LIMIT)]
LabelValue: TypeAlias = Annotated[
    str, Meta(pattern=whole_text(f"(?:{names.QUALIFIED})?"), max_length=names.LABEL_LIMIT)
]
Labels: TypeAlias = dict[QualifiedName, LabelValue]
EnvironmentName: TypeAlias = Annotated[str, Meta(pattern=whole_text(names.ENVIRONMENT))]
ConfigKey: TypeAlias = Annotated[
    str, Meta(pattern=whole_text(rf"(?!\.){names.CONFIG_KEY}"), max_length=names.SUBDOMAIN_LIMIT)
]
PortNumber: TypeAlias = Annotated[int, Meta(ge=1, le=names.PORT_LIMIT)]
PortName: TypeAlias = Annotated[str, Meta(pattern=whole_text(names.PORT_NAME), max_length=names.PORT_NAME_LIMIT)]
#: Integers that every JSON reader keeps exactly.
LARGE = Meta(ge=-(2**53), le=2**53)

#: A text that is not empty; a relative and an absolute path without `..`.
Text: TypeAlias = Annotated[str, Meta(min_length=1)]
RelativePath: TypeAlias = Annotated[str, Meta(pattern=whole_text(r"(?s:(?!/)(?!.*\.\.).+)"))]
AbsolutePath: TypeAlias = Annotated[str, Meta(pattern=whole_text(r"(?s:/(?!.*\.\.).*)"))]
