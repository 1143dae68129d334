"""The page about the comparison."""

from collections import Counter
from collections.abc import Sequence

from tests.crdgen.objects.comparison import Result

_TEXT = """# Local evaluation

`crdgen.evaluate` prunes, defaults and validates an object as the API server does with a CRD's schema, CEL rules
included (`pip install 'jobgate[cel]'`; without it rules are not run). `make test` compares the two on a sample;
`python -m bench.crd_objects` writes this page.

"""

_DIFFERENCES = """
## Where it does not agree with the API server

Meant:

- A list in the place of a text with a format, such as a time, is refused here, and taken there by mistake.

Known, and not mended:

- The object's own `metadata` is not checked (names, labels), nor what an admission webhook would do; of an embedded
  resource's metadata only the types are looked at, and fields that Kubernetes does not know are kept.
- The formats `email` and `uri`, CEL's `url(...)` and the messages of `format.named(...).validate(...)` are near, not exact.
- A pattern with a Unicode script (`\\p{Greek}`) or the flag `U` is not held against anything.
- The run-time cost of rules is counted roughly as the API server counts it: an expression that comes close to
  1,000,000, or all rules of an object together to 10,000,000, may be stopped there and not here, or the other way round.
- Rules' types: lists of lists and maps of lists or maps are not typed inside, when a rule is compiled here.
- Texts of violations are our own where the schema refuses, and the API server's where a rule does.
"""


def summary(results: Sequence[Result]) -> str:
    """Return the figures in one line."""
    count = Counter(
        "explained"
        if result.explained
        else "differ"
        if result.differs
        else "taken"
        if result.taken_there
        else "refused"
        for result in results
        if result.taken_there is not None
    )
    schemas = len({result.schema for result in results})
    return (
        f"{sum(count.values())} objects of {schemas} schemas: both take {count['taken']} and make the same of them, "
        f"both refuse {count['refused']}; {count['explained']} differ as meant, {count['differ']} differ"
    )


def page(results: Sequence[Result], seed: int) -> str:
    """Return the page."""
    return f"{_TEXT}{summary(results)} (seed {seed}).\n{_DIFFERENCES}"
