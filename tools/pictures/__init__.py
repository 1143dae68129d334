"""The pictures of README and documentation, in docs/images/: `make pictures` makes them.

The diagram of `flow.py` is drawn from the code, so `make check` finds it if it is out of date. The recording
(`recording.py`) shows a real control plane, the screenshots (`console.py`) the console's page with sample data: make
them when these change.
"""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "docs" / "images"
