"""Generated files: which there are, and whether they are what their models give.

- `listing`: the table `[tool.crdgen]` of a pyproject.toml
- `staleness`: a file against what it should be
"""

from crdgen.check.listing import Entry, Unclear, listing
from crdgen.check.staleness import Stale, stale

__all__ = ["Entry", "Stale", "Unclear", "listing", "stale"]
