"""Writes the page about the comparison."""

from collections.abc import Iterable, Mapping, Sequence

from tests.differential.objects.result import Author, Result

_TEXT = """# Local evaluation

`crdgen.evaluate` prunes, defaults and validates an object as the API server does with a CRD's schema, CEL rules
included (with the extra `cel` of [jobgate or jobgate-crdgen](../how-to/get.md); without it rules are not run, and each is named). Objects of every schema that the tests generate
are sent to both, as dry-run creates. Hypothesis draws them from the schema, valid and with mistakes, and from the
model, dumped by Pydantic. `make test` compares a sample;
`python -m tests.differential.objects --models tests.crdgen --models tests.crdgen.cli.shop` compares all and writes this page.

"""

_DIFFERENCES = """
Both reject some of what a model writes: a required field that is left out because it is null (`exclude_none`), values
that the CRD has a rule for and the model has not, values that a serializer writes in another form than the model reads,
`Base64Bytes` of no bytes, and a `dict` that is not a pod template.

Formats are checked as the API server checks them, in every spelling of their names (`date-time` is `datetime`). So are the
bounds of `int32`, `int64` and `float`. A bound that is not a value of its type rejects every value in both.

## Differences from the API server

Intended:

- A list where a string with a format is expected, such as a time, is rejected here. The API server accepts it by mistake.

Known differences:

- What an admission webhook would do, whether a namespace is there, and what the API server fills into `metadata`.
- Formats that CRDs rarely use (`isbn`, `creditcard`, …), unusual e-mail addresses and unusual URLs may have another verdict:
  [the list](crdgen-fidelity.md#where-the-linter-and-the-local-evaluation-differ-from-the-api-server).
- A pattern that takes RE2 more than 8 MiB (`\\pL{1000}`), or has more than 65,536 characters, is not checked.
- Rules' types: lists of lists and maps of lists or maps are not typed inside, when a rule is compiled here. `indexOf` and
  `lastIndexOf` of a list take a value of another type.
- Rules run in the CEL library, which does not count what they cost as the API server does. A rule is not checked, and is
  named, if it takes more than 10,000 steps of `all`, `map` and the like, if the estimate of its cost for this very object is
  above 10,000,000 (or above 100,000,000 with the object's other rules), if it nests deeper than 32, uses `optMap` more than
  eight times, chains `format` in comprehensions, or uses `orValue`, `or`, `.?` or `[?]` on what `validate` gives.
- Sets and map lists: `self == oldSelf` holds in any order, as there; `==` with a list that the rule itself makes does not, and
  `+` adds items that are there already.
- Rules see times to the nanosecond, except `min`, `max` and `sum`, which cut them to microseconds. A NUL in a text is seen as
  another control character.
- `duration()` of a text with `µs` (`us` is read) or a fraction of more than 18 digits fails.
- Errors of rules are in the CEL library's words.
- A time that its format takes and CEL cannot read makes the rule fail with another message.
- Messages of the schema differ from the API server's; messages of rules are the same, but for errors. The fields that both name may differ.
"""


def page(results: Sequence[Result], seed: int, rejected: Mapping[str, str]) -> str:
    """Return the page."""
    parts = [_TEXT, f"{summary(results)} (seed {seed}).\n\n", *_table(results)]
    if rejected:
        parts.append(f"\nThe API server rejects {len(rejected)} of the schemas themselves, mostly made-up ones.\n")
    return "".join([*parts, _DIFFERENCES])


def summary(results: Sequence[Result]) -> str:
    """Return the counts in a few sentences."""
    agreed = [result for result in results if not result.differs]
    taken = sum(result.taken_there for result in agreed)
    meant = sum(bool(result.explained) for result in results)
    return (
        f"{len(results):,} objects of {len({result.schema for result in results})} schemas: both accept {taken:,} with "
        f"the same result, both reject {len(agreed) - taken:,}; "
        f"{meant:,} known differences, {len(results) - len(agreed) - meant:,} others"
    )


def _table(results: Sequence[Result]) -> Iterable[str]:
    yield "| schemas | number | objects by hand: accepted, rejected | from the schema | from the model | differ |\n"
    yield "|---|---|---|---|---|---|\n"
    for source in dict.fromkeys(result.source for result in results):
        own = [result for result in results if result.source == source]
        columns = [_verdicts(result for result in own if result.author is author) for author in Author]
        schemas = len({result.schema for result in own})
        differ = sum(result.differs for result in own)
        yield f"| {source} | {schemas} | {' | '.join(columns)} | {differ} |\n"


def _verdicts(results: Iterable[Result]) -> str:
    verdicts = [result.taken_there for result in results]
    return f"{sum(verdicts):,}, {len(verdicts) - sum(verdicts):,}" if verdicts else ""
