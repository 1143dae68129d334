"""The pictures of README and documentation, in docs/images/: `make pictures` makes them.

`make check` finds a diagram that is out of date. Recording and screenshots are made again when what they show changes.
"""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "docs" / "images"
