"""The examples: the sound ones are accepted as they are, twice; the broken ones are denied as they announce."""

from pathlib import Path

import pytest
import yaml

from tests.kinds.mxjob.jobs import faults, mutate, validate
from tests.kinds.mxjob.test_defaults import mutated

EXAMPLES = Path(__file__).parents[3] / "examples" / "mxjob"


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.stem)
def test_a_sound_example_is_accepted_and_changes_once(file: Path) -> None:
    document = yaml.safe_load(file.read_text())
    assert faults(validate(document, operator_can=frozenset())) == []
    assert not mutate(mutated(document)).patch


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("broken/*.yaml")), ids=lambda file: file.stem)
def test_a_broken_example_is_denied_as_it_announces_and_for_nothing_else(file: Path) -> None:
    text = file.read_text()
    announced = [line.removeprefix("# denied: ") for line in text.splitlines() if line.startswith("# denied: ")]
    told = faults(validate(yaml.safe_load(text)))
    assert len(told) == len(announced)
    for fault in announced:
        assert any(one.startswith(fault) for one in told), (fault, told)
