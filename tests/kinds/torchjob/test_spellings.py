"""The rules of words that are spelled in two ways."""

from typing import Any

import pytest

from tests.kinds.torchjob.jobs import elastic, faults, job, mutate, validate

CAN = frozenset({"torchjobs/canonical-spellings"})
#: The old spelling, the canonical one, and a value.
WORDS = [
    ("clenPodPolicy", "cleanPodPolicy", "Running"),
    ("TTLSecondsAfterFinished", "ttlSecondsAfterFinished", 60),
    ("activeDurations", "activeDeadlineSeconds", 60),
    ("numWorkersPerNodePolicy", "nprocPerNode", 2),
]


def saying(**words: Any) -> tuple[dict[str, Any], str]:
    """Return a job that says these words, and where they stand."""
    if words.keys() & {"numWorkersPerNodePolicy", "nprocPerNode"}:
        return job(**elastic(**words)), "spec.torchElasticPolicy"
    return job(**words), "spec"


@pytest.mark.parametrize("old, canonical, value", WORDS)
def test_the_old_spelling_is_kept_with_a_warning(old: str, canonical: str, value: Any) -> None:
    document, path = saying(**{old: value})
    response = validate(document)
    assert (faults(response), response.warnings) == (
        [],
        [f"{path}.{old}: deprecated spelling: use {canonical}"],
    )
    assert not [operation for operation in mutate(document).patch if operation["path"].endswith((old, canonical))]


@pytest.mark.parametrize("old, canonical, value", WORDS)
def test_of_the_canonical_spelling_is_reported_that_it_is_not_read(old: str, canonical: str, value: Any) -> None:
    document, path = saying(**{canonical: value})
    response = validate(document)
    assert (faults(response), response.warnings) == (
        [],
        [
            f"{path}.{canonical}: torch-on-k8s reads only {old}: use that spelling. If the operator reads "
            "this one, an administrator declares that with the setting operator-can: "
            "[torchjobs/canonical-spellings]"
        ],
    )
    assert validate(document, operator_can=CAN).warnings == []


@pytest.mark.parametrize("old, canonical, value", WORDS)
def test_both_spellings_at_once_are_rejected(old: str, canonical: str, value: Any) -> None:
    document, path = saying(**{old: value, canonical: value})
    response = validate(document)
    assert (faults(response), response.warnings) == (
        [f"{path}.{old}: Forbidden: same field as {path}.{canonical}, which is also set: remove one of them"],
        [],
    )


def test_spellings_that_contradict_each_other_are_said_to() -> None:
    assert faults(validate(job(cleanPodPolicy="All", clenPodPolicy="None"))) == [
        'spec.clenPodPolicy: Forbidden: same field as spec.cleanPodPolicy, which is also set to "All": remove one of them'
    ]
