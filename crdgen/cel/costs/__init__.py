"""What an expression may cost: the API server's own estimate, by which it refuses rules.

It sizes everything that an expression walks, by the bounds in the schema or by what fits into a request (`extent`), and
adds up what the walk costs (`Estimator`, with the prices of functions in `calls`). How often a rule is evaluated is not
its matter.
"""

from crdgen.cel import available
from crdgen.cel.checked import Checked, read_checked
from crdgen.cel.costs.estimate import Estimator
from crdgen.cel.costs.extent import REQUEST, Extent, extent
from crdgen.cel.costs.sizing import Source
from crdgen.cel.tree import Node
from crdgen.schema.walk import Schema

__all__ = ["REQUEST", "Estimate", "Extent", "Source", "estimate", "extent"]

# What makes less of a difference than this part of an estimate is not worth naming.
_PART = 20


class Estimate:
    """What evaluating an expression once may cost at most.

    Attributes:
        cost: in the API server's unit, in which reading a field costs 1.
        ranges: what has no bound and is gone through by `all`, `exists`, `map` and the like.
    """

    def __init__(self, tree: Node, self_extent: Extent, checked: Checked) -> None:
        self._tree, self._self, self._checked = tree, self_extent, checked
        estimator = Estimator(self_extent, checked)
        self.cost = estimator.cost(tree)
        self.ranges = tuple(estimator.sizes.ranges.values())
        self._asked = tuple(estimator.sizes.sources.values())

    def sources(self) -> list[Source]:
        """Return what the estimate rests on: were one of them small, it would be notably less."""
        return [source for source in self._asked if (self.cost - self._with_small(source)) * _PART >= self.cost]

    def _with_small(self, source: Source) -> int:
        return Estimator(self._self, self._checked, frozenset({source.name})).cost(self._tree)


def estimate(
    expression: str, schema: Schema, self_extent: Extent, *, root: bool = False, optional_old_self: bool = False
) -> Estimate | None:
    """Return what the expression may cost, as the API server estimates it.

    None for an expression that does not compile, and without a library.

    Args:
        expression: The rule or messageExpression.
        schema: The schema of `self`.
        self_extent: How large its values can be: `extent(schema, root=root)`.
        root: Whether self is a whole resource.
        optional_old_self: Whether the rule says `optionalOldSelf`.
    """
    if not available():
        return None
    from crdgen.cel.compiling import OPTIONAL, PLAIN, Refused, compile_  # noqa: PLC0415 - the library is optional

    try:
        compiled = compile_(expression, schema, root=root, old=OPTIONAL if optional_old_self else PLAIN)
    except Refused:
        return None
    return Estimate(compiled.tree, self_extent, read_checked(compiled.serialized))
