"""Write the page of the kind."""

from pathlib import Path

from jobgate.api import page

from sweepjob import KIND

Path("sweep.md").write_text(page(KIND), encoding="utf-8")
