"""`--queueing`: what the installation says of queues, and what the author of a job gets to read."""

import pytest
from click.testing import CliRunner, Result

from jobgate.cli import main

JOB = """\
apiVersion: diengine.opendilab.org/v2alpha1
kind: DIJob
metadata: {name: job}
spec:
  queue: high
  tasks: [{type: learner, template: {spec: {containers: [{name: main, image: ding}]}}}]
"""


def run(*arguments: str) -> Result:
    """Run a command with the job on its standard input."""
    return CliRunner().invoke(main, list(arguments), input=JOB, catch_exceptions=False)


def test_a_queue_that_something_reads_is_not_warned_of() -> None:
    assert "spec.queue: DI-orchestrator ignores this field" in run("review", "-").stdout
    assert "spec.queue" not in run("review", "--queueing=kueue", "-").stdout


@pytest.mark.parametrize("command", [["review", "-"], ["manifests"]])
def test_a_system_that_is_not_known_is_rejected(command: list[str]) -> None:
    done = run(command[0], "--queueing=yarn", *command[1:])
    assert done.exit_code == 2
    assert "'yarn' must be one of kubernetes, kueue, coscheduling or volcano" in done.stderr


def test_the_domain_is_a_domain() -> None:
    done = run("review", "--cluster-domain=Svc_", "-")
    assert done.exit_code == 2
    assert "--cluster-domain" in done.stderr
