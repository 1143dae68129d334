"""The examples: what users are shown is allowed, and the broken twins are denied as they say."""

from pathlib import Path

import jsonpatch
import pytest
import yaml

from tests.kinds.vcjob.jobs import faults, mutate, validate

EXAMPLES = Path("examples/vcjob")
SOUND = sorted(EXAMPLES.glob("*.yaml"))
BROKEN = sorted((EXAMPLES / "broken").glob("*.yaml"))


@pytest.mark.parametrize("file", SOUND, ids=lambda file: file.stem)
def test_an_example_is_allowed_and_mutated_once(file: Path) -> None:
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    mutation = mutate(document)
    stored = jsonpatch.apply_patch(document, list(mutation.patch))
    assert faults(mutation) == []
    assert faults(validate(stored)) == []
    assert not mutate(stored).patch


@pytest.mark.parametrize("file", BROKEN, ids=lambda file: file.stem)
def test_a_broken_example_is_denied_for_all_that_it_says_and_nothing_else(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    expected = [line.removeprefix("# denied: ") for line in text.splitlines() if line.startswith("# denied: ")]
    told = faults(validate(yaml.safe_load(text)))
    assert len(told) == len(expected), told
    for beginning in expected:
        assert any(fault.startswith(beginning) for fault in told), (beginning, told)
