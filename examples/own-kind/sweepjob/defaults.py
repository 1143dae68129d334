"""The defaults of a SweepJob, which mutation adds."""

from jobgate.api import Context, Draft, fill, limit_what_is_not_shared

from sweepjob.models import SweepJobSpec, Trial


def constants(job: Draft, _: Context) -> None:
    """The defaults of the models, for an API server without the defaults of the CRD."""
    spec = job.at("spec")
    if spec is not None:
        fill(spec, SweepJobSpec)
    for trial in job.each("spec", "trials"):
        fill(trial, Trial)


def trials_are_not_restarted(job: Draft, _: Context) -> None:
    """A trial that fails is a result: its pods have the restart policy Never unless they say otherwise."""
    for trial in job.each("spec", "trials"):
        pod = trial.at("template", "spec")
        if pod is not None:
            pod.setdefault("restartPolicy", "Never")


DEFAULTS = (constants, trials_are_not_restarted, limit_what_is_not_shared("spec", "trials"))
