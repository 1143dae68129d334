"""Sizes of values as they are estimated: characters, bytes or entries."""

from dataclasses import dataclass
from typing import Final

#: What one character costs to walk over, and one character of a pattern to match against one of a text.
#: (cel-go, common/cost.go)
TRAVERSAL: Final = 0.1
REGEX: Final = 0.25

# Below it a product with a factor is exactly what the API server, which computes with floats, has.
_EXACT: Final = 2**53


@dataclass(frozen=True, slots=True)
class Size:
    """From `least` to `most`; they have no limit, so that what bounds would change can be told from any estimate."""

    least: int
    most: int

    def __add__(self, other: "Size") -> "Size":
        """Return the size of both one after the other."""
        return Size(self.least + other.least, self.most + other.most)

    def __mul__(self, other: "Size") -> "Size":
        """Return the size of as many of the other."""
        return Size(self.least * other.least, self.most * other.most)

    def __or__(self, other: "Size") -> "Size":
        """Return the size of either."""
        return Size(min(self.least, other.least), max(self.most, other.most))


#: The size of a value of which nothing is known.
UNKNOWN: Final = Size(0, 2**64 - 1)


def fixed(size: int) -> Size:
    """Return a size that is known."""
    return Size(size, size)


def share(amount: int, factor: float) -> int:
    """Return the product, rounded up."""
    if amount < _EXACT:
        product = amount * factor
        return int(product) + (product % 1 > 0)
    return -(-amount * round(factor * 1000) // 1000)
