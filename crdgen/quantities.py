"""Quantities as Kubernetes parses them."""

import re
from typing import Any, Final

from crdgen.schema import INT_OR_STRING

# What `resource.ParseQuantity` takes (k8s.io/apimachinery, pkg/api/resource/quantity.go), with two differences from the
# pattern that generated CRDs usually carry. An exponent is whole: the usual pattern lets "1e1.5" pass, which no typed
# client can decode, so that one such object stops an operator's list call for everybody. And it has at most three
# digits, because parsing 1e999999999 takes minutes. The last alternative is a zero without digits, such as "m", which
# is taken with most suffixes; "Pi" and "Ei" are not among them.
QUANTITY_PATTERN: Final = (
    r"^[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?0*[0-9]{1,3})?|\.?([KMGT]i|[numkMGTPE])?)$"
)
QUANTITY_SCHEMA: Final = {"minLength": 1, "pattern": QUANTITY_PATTERN, INT_OR_STRING: True}
# What a message asks for.
QUANTITY_EXAMPLE: Final = 'a quantity such as 1, "500m" or "1.5Gi"'

_QUANTITY: Final = re.compile(QUANTITY_PATTERN.removesuffix("$"))


def is_quantity(value: Any) -> bool:
    """Return whether Kubernetes would take the value, an integer or a string, for a quantity."""
    return not isinstance(value, str) or (value != "" and _QUANTITY.fullmatch(value) is not None)
