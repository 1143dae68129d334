"""The rules of a SweepJob: a case that passes, a case that fails, and the message to the user."""

from typing import Any

from sweepjob import SWEEPJOB
from sweepjob.models import SweepJobSpec, Trial

from jobgate.api import Registry, ReviewOptions, judge


def sweep(*rates: str) -> dict[str, Any]:
    """Return a SweepJob with a trial of each of these learning rates."""
    template = {"spec": {"containers": [{"name": "main", "image": "train"}]}}
    trials = [{"name": f"t{i}", "parameters": {"rate": rate}, "template": template} for i, rate in enumerate(rates)]
    return {
        "apiVersion": "example.com/v1",
        "kind": "SweepJob",
        "metadata": {"name": "rates"},
        "spec": {"metric": "accuracy", "trials": trials},
    }


def faults(job: dict[str, Any]) -> list[str]:
    """Return the causes for which a job is denied, as `kubectl` prints them."""
    status = judge(job, ReviewOptions(kinds=Registry([SWEEPJOB]))).status
    return [f"{cause['field']}: {cause['message']}" for cause in status["details"]["causes"]] if status else []


def test_trials_of_different_values_are_allowed() -> None:
    """Each trial gives its own result."""
    assert faults(sweep("0.1", "0.01")) == []


def test_trials_of_the_same_values_are_denied() -> None:
    """The message is at the second trial, and names the first."""
    (fault,) = faults(sweep("0.1", "0.01", "0.1"))
    assert fault == (
        'spec.trials[2].parameters: Duplicate value: {"rate": "0.1"}: spec.trials[0] tries the same: '
        "change a value, or leave one of them out"
    )


def test_an_invalid_field_makes_no_rule_fail() -> None:
    """Rules do not fail on a job with an invalid field."""
    for name, field in SweepJobSpec.model_fields.items():
        job = sweep("0.1", "0.01")
        job["spec"][field.alias or name] = 1.5
        assert faults(job), name
    for name, field in Trial.model_fields.items():
        job = sweep("0.1", "0.01")
        job["spec"]["trials"][0][field.alias or name] = 1.5
        assert faults(job), name
