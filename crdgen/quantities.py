"""Quantities of Kubernetes."""

import re
from typing import Any, Final

from crdgen.schema import INT_OR_STRING

# The syntax of `resource.ParseQuantity` (k8s.io/apimachinery, pkg/api/resource/quantity.go), with two differences from
# the usual pattern in generated CRDs. Exponents must be whole: the usual pattern accepts "1e1.5", which no typed client
# can decode, so that a single object makes an operator's list call fail. And they have at most three digits, because
# parsing 1e999999999 takes minutes. The last alternative is a zero without digits, such as "m"; it is accepted with
# most suffixes, but not with "Pi" and "Ei".
QUANTITY_PATTERN: Final = (
    r"^[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?0*[0-9]{1,3})?|\.?([KMGT]i|[numkMGTPE])?)$"
)
#: Both patterns of quantities: ours, and that of other generators.
QUANTITY_PATTERNS: Final = frozenset(
    {
        QUANTITY_PATTERN,
        (
            r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
            r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
        ),
    }
)
QUANTITY_SCHEMA: Final = {"minLength": 1, "pattern": QUANTITY_PATTERN, INT_OR_STRING: True}
# The expected value, for messages.
QUANTITY_EXAMPLE: Final = 'a quantity such as 1, "500m" or "1.5Gi"'

_QUANTITY: Final = re.compile(QUANTITY_PATTERN.removesuffix("$"))


def is_quantity(value: Any) -> bool:
    """Return whether Kubernetes accepts the value, an integer or a string, as a quantity."""
    return not isinstance(value, str) or (value != "" and _QUANTITY.fullmatch(value) is not None)
