"""What holds for every example."""

from pathlib import Path

import pytest
from jobgate.testing import check_idempotence, check_robustness, verdict

from sweepjob import KIND

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: str(file.name))
def test_good_examples(file: Path) -> None:
    """Defaults are added once, and no rule fails on odd values."""
    check_idempotence(KIND, file)
    check_robustness(KIND, file)


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("denied/*.yaml")), ids=lambda file: str(file.name))
def test_denied_examples(file: Path) -> None:
    """They are denied."""
    assert verdict(KIND, file).faults
