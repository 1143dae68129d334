"""What mutation adds to a SweepJob."""

from jobgate.jobs.defaults import fill, limit_what_is_not_shared
from sweepjob.models import SweepJobSpec, Trial
from webhook import Context, Draft


def constants(job: Draft, _: Context) -> None:
    """The defaults of the models, for a server that has not applied the CRD's."""
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
