"""Plain shapes: types of values in which the rules surely find nothing, checked by msgspec in C.

A plain shape may reject valid values, and never accepts one that a rule reports: `names` has the formats, and these
types are at most as wide.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import Meta

from jobgate import names


def whole_text(pattern: str) -> str:
    """Return the pattern of texts that match from their first character to their last; msgspec searches."""
    return rf"\A(?:{pattern})\Z"


DnsLabel: TypeAlias = Annotated[str, Meta(pattern=whole_text(names.LABEL), max_length=names.LABEL_LIMIT)]
DnsSubdomain: TypeAlias = Annotated[str, Meta(pattern=whole_text(names.SUBDOMAIN), max_length=names.SUBDOMAIN_LIMIT)]
#: So short that each part keeps within its limit.
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
#: Integers of 64 bits, as far as no reader loses a digit.
LARGE = Meta(ge=-(2**53), le=2**53)

#: A text that is not empty, and a path below some folder, or from the root, without dots that could be steps back.
Text: TypeAlias = Annotated[str, Meta(min_length=1)]
RelativePath: TypeAlias = Annotated[str, Meta(pattern=whole_text(r"(?s:(?!/)(?!.*\.\.).+)"))]
AbsolutePath: TypeAlias = Annotated[str, Meta(pattern=whole_text(r"(?s:/(?!.*\.\.).*)"))]
