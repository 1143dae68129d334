r"""Regular expressions of Go, whose syntax is known as RE2: read once, for all who ask something of a pattern.

- `parsing`: the pattern as a tree (`tree`), or what Go has against it (`faults`); and what Go takes, and others read
  otherwise
- `translation`: the pattern as one of Python's
- `classes`: the names in `\p{…}` and `[[:…:]]`

The grammar is that of Go's regexp/syntax with the flags of `regexp.Compile` (https://github.com/google/re2/wiki/Syntax):
no look-around, no back-references, no possessive groups, at most 1,000 repetitions, `\z` and not `\Z`.
"""

from crdgen.re2.faults import InvalidPattern, Problem
from crdgen.re2.parsing import problem, strangeness
from crdgen.re2.translation import UnknownPattern, compiled

__all__ = ["InvalidPattern", "Problem", "UnknownPattern", "compiled", "problem", "strangeness"]
