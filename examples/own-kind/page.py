"""Write the page of the kind."""

from pathlib import Path

from sweepjob import SWEEPJOB

from jobgate.api import page

Path("sweep.md").write_text(page(SWEEPJOB), encoding="utf-8")
