"""Plugins of a Volcano Job and their arguments, as Go's flags are written."""

from typing import Any

import pytest

from jobgate.jobs.context import Settings
from jobgate.kinds.vcjob import VCJOB
from jobgate.kinds.vcjob.flags import flags_of
from jobgate.offline.judge import ReviewOptions, judge
from tests.kinds.vcjob.jobs import KINDS, faults, job, task, template, validate

SSH = (
    '"--ssh-key-file-path", "--ssh-private-key", "--ssh-public-key", "--ssh-port"'
)  # fmt: skip


def asked(**plugins: Any) -> list[str]:
    """Return the faults of a job with these plugins."""
    return faults(validate(job(task("master"), task("head"), task("worker"), plugins=plugins)))


@pytest.mark.parametrize(
    "plugins",
    [
        {name: [] for name in ("ssh", "env", "svc", "tensorflow", "mpi", "pytorch", "hcclrank", "ray")},
        {"svc": ["--publish-not-ready-addresses=true", "-disable-network-policy"]},
        {"svc": ["--publish-not-ready-addresses=F", "--inject-hosts-env=0"]},
        {"ssh": ["--ssh-key-file-path=/home/user/.ssh", "-ssh-port", "2222"]},
        {"ssh": ["--ssh-private-key", "-----BEGIN KEY", "--ssh-public-key", "ssh-rsa AAAA="]},
        {"ssh": ["--no-root"]},
        {"mpi": ["--master=worker", "--worker=head", "--port=22"]},
        {"mpi": ["-master", "worker"]},
        {"pytorch": ["--wait-master-enabled", "--wait-master-timeout=60", "--wait-master-image=busybox", "--port=0x5ba1"]},
        {"tensorflow": ["--ps=ps", "--worker=worker", "--chief=chief", "--evaluator=e", "--port=02222", "--"]},
        {"ray": ["--head=head", "--headContainer=h", "--workerContainer=w", "--dashboardPort=8265", "--clientPort=10001"]},
    ],
)  # fmt: skip
def test_what_a_plugin_understands_is_allowed(plugins: dict[str, list[str]]) -> None:
    assert asked(**plugins) == []


@pytest.mark.parametrize(
    "plugins, expected",
    [
        ({"sshd": []},
         ['spec.plugins[sshd]: Unsupported value: "sshd": supported values: "ssh", "env", "svc", "tensorflow", "mpi", '
          '"pytorch", "hcclrank", "ray"']),
        ({"env": ["--x"]}, ["spec.plugins[env][0]: Forbidden: env takes no arguments: remove it"]),
        ({"ssh": ["--ssh-prot=22"]},
         [f'spec.plugins[ssh][0]: Unsupported value: "--ssh-prot": supported values: {SSH}']),
        ({"ssh": ["--key", "value", "--ssh-port=22"]},
         [f'spec.plugins[ssh][0]: Unsupported value: "--key": supported values: {SSH}']),
        ({"svc": ["true"]},
         ["spec.plugins[svc][0]: Forbidden: svc takes only flags: use --publish-not-ready-addresses, "
          "--disable-network-policy, --inject-hosts-env"]),
        ({"svc": ["--disable-network-policy", "true"]},
         ["spec.plugins[svc][1]: Forbidden: svc takes only flags: use --publish-not-ready-addresses, "
          "--disable-network-policy, --inject-hosts-env"]),
        ({"svc": ["--disable-network-policy=yes"]},
         ['spec.plugins[svc][0]: Invalid value: "--disable-network-policy": its value must be true or false']),
        ({"ssh": ["--ssh-port"]},
         ["spec.plugins[ssh][0]: Required value: --ssh-port takes a port number between 1 and 65535: use "
          "--ssh-port=<value>"]),
        ({"ssh": ["--ssh-port=0", "--ssh-port=99999", "--ssh-port=x"]},
         [f'spec.plugins[ssh][{place}]: Invalid value: "--ssh-port": its value must be a port number between 1 and 65535'
          for place in range(3)]),
        ({"ssh": ["--ssh-port= 22", "--ssh-port", "\uff12\uff12"]},
         [f'spec.plugins[ssh][{place}]: Invalid value: "--ssh-port": its value must be a port number between 1 and 65535'
          for place in range(2)]),
        ({"mpi": ["--master=head", "--prot=1"]},
         ['spec.plugins[mpi][1]: Unsupported value: "--prot": supported values: "--master", "--worker", "--port"']),
        ({"pytorch": ["--wait-master-timeout=1m"]},
         ['spec.plugins[pytorch][0]: Invalid value: "--wait-master-timeout": its value must be an integer '
          "number of seconds"]),
        ({"mpi": ["--master=boss"]},
         ['spec.plugins[mpi]: Not found: "boss": no task has this name, and mpi needs it to start the '
          "workers: rename a task, or name one with --master=<task>"]),
    ],
)  # fmt: skip
def test_what_it_does_not_is_rejected(plugins: dict[str, list[str]], expected: list[str]) -> None:
    assert asked(**plugins) == expected


@pytest.mark.parametrize("arguments", [["--ssh-private-key"], ["SECRET"], ["-----SECRET"], ["--ssh-port", "SECRET"]])
def test_no_value_of_an_argument_is_shown(arguments: list[str]) -> None:
    reported = asked(ssh=arguments)
    assert reported
    assert "SECRET" not in "".join(reported)


@pytest.mark.parametrize(
    "plugins, warning",
    [
        ({"pytorch": []},
         'spec.plugins[pytorch]: Not found: "master": no task has this name, and pytorch does nothing without '
         "it: rename a task, or name one with --master=<task>"),
        ({"ray": ["--head=boss"]},
         'spec.plugins[ray]: Not found: "boss": no task has this name, and ray fails without it, so that '
         "the job stays Pending: rename a task, or name one with --head=<task>"),
        ({"ssh": ["--no-root", "true"]},
         "spec.plugins[ssh][0]: ssh no longer has the flag --no-root, and ignores all arguments after it: "
         "remove it"),
    ],
)  # fmt: skip
def test_what_volcano_takes_and_cannot_use_is_a_warning(plugins: dict[str, list[str]], warning: str) -> None:
    response = validate(job(task("a"), plugins=plugins))
    assert (faults(response), warning in response.warnings) == ([], True)


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ([], "master"),
        (["--master=a", "-master", "b"], "b"),
        (["--master=a", "--unknown", "--master=b"], "a"),
        (["--port=x", "--master=a"], "master"),
        (["--port=x", "--master=a", "--port=1"], "master"),
        (["word", "--master=a"], "master"),
        (["--", "--master=a"], "master"),
        (["--master="], ""),
        (["--master", "--port=1"], "--port=1"),
    ],
)
def test_a_flag_is_read_as_go_reads_it(arguments: list[str], expected: str) -> None:
    assert flags_of("mpi", arguments)["master"] == expected


#: By Volcano, a gang that waits for itself.
WAITING = [task("work"), task("late", minAvailable=1, dependsOn={"name": ["work"]})]
#: Tasks that jobgate's ssh has something to say of.
UNPRIVILEGED = task("work", template=template(securityContext={"runAsUser": 1000}))
IN_THE_WAY = task("work", template=template(volumes=[{"name": "job-ssh", "emptyDir": {}}]))


PARTITION = {"totalPartitions": 1, "partitionSize": 1}


@pytest.mark.parametrize(
    ("spec", "denied", "warned"),
    [
        ({"plugins": {"ssh": ["--ssh-port=2222"], "svc": [], "env": []}}, False, []),
        ({"plugins": {"svc": [], "ssh": ["--ssh-private-key=k"]}}, False, ["use --ssh-key-secret"]),
        ({"plugins": {"svc": [], "ssh": ["--ssh-key-secret=mine", "--ssh-key-type=rsa"]}}, False, []),
        ({"plugins": {"svc": [], "ssh": ["--no-root"]}}, False, ["set the directory of the keys"]),
        ({"plugins": {"ssh": []}}, False, ["add the plugin svc"]),
        (
            {"plugins": {"svc": [], "ssh": []}, "tasks": [UNPRIVILEGED]},
            False,
            ["no securityContext.fsGroup", "cannot read /root/.ssh"],
        ),
        ({"plugins": {"svc": [], "ssh": []}, "tasks": [IN_THE_WAY]}, True, []),
        ({"plugins": {"ssh": ["--ssh-key-file-path=keys"]}}, True, []),
        ({"minAvailable": 2, "tasks": WAITING}, False, []),
        ({"queue": "research"}, False, ["the job is not queued"]),
        ({"queue": "default"}, False, []),
        ({"networkTopology": {"highestTierAllowed": 1}}, False, ["spec.networkTopology: the runner ignores"]),
        (
            {"tasks": [task("work", partitionPolicy={**PARTITION, "networkTopology": {"highestTierAllowed": 1}})]},
            False,
            ["partitionPolicy.networkTopology: the runner ignores"],
        ),
        (
            {"policies": [{"event": "PodFailed", "action": "RestartPod", "timeout": "1m"}]},
            False,
            ["without this delay"],
        ),
        ({"policies": [{"exitCode": 3, "action": "RestartPod", "timeout": "1m"}]}, False, ["without this delay"]),
        ({"policies": [{"event": "PodPending", "action": "RestartPod", "timeout": "1m"}]}, False, []),
        ({"policies": [{"event": "PodFailed", "action": "RestartJob", "timeout": "1m"}]}, False, []),
    ],
)
def test_a_job_that_jobgate_runs_is_judged_by_what_its_own_plugins_can(
    spec: dict[str, Any], denied: bool, warned: list[str]
) -> None:
    options = ReviewOptions(kinds=KINDS, settings=Settings(runs=frozenset({VCJOB.qualified_plural})))
    written = job(task("work"))
    written["spec"] |= spec
    verdict = judge(written, options)
    assert (verdict.status is not None) == denied
    assert len(verdict.warnings) == len(warned)
    assert all(text in warning for text, warning in zip(warned, verdict.warnings, strict=True))
    judged = judge(written, ReviewOptions(kinds=KINDS))
    assert (judged.status is None) == ("--ssh-key-secret=mine" not in str(spec))


@pytest.mark.parametrize("plugins", [{}, {"svc": [], "ssh": []}])
def test_a_name_with_dots_is_reported_once_where_jobgate_runs_the_job(plugins: dict[str, Any]) -> None:
    options = ReviewOptions(kinds=KINDS, settings=Settings(runs=frozenset({VCJOB.qualified_plural})))
    status = judge(job(task("work"), name="a.b", plugins=plugins), options).status
    assert status is not None
    assert [cause["field"] for cause in status["details"]["causes"]] == ["metadata.name"]


def test_the_name_of_a_job_that_jobgate_runs_has_no_dots() -> None:
    for runs in (frozenset[str](), frozenset({VCJOB.qualified_plural})):
        verdict = judge(job(task("work"), name="a.b"), ReviewOptions(kinds=KINDS, settings=Settings(runs=runs)))
        assert (verdict.status is not None) == bool(runs)


def test_an_argument_that_neither_volcano_nor_jobgate_takes_is_reported_once() -> None:
    written = job(task("work"))
    written["spec"]["plugins"] = {"env": ["--x"]}
    options = ReviewOptions(kinds=KINDS, settings=Settings(runs=frozenset({VCJOB.qualified_plural})))
    status = judge(written, options).status
    assert status is not None
    assert [cause["field"] for cause in status["details"]["causes"]] == ["spec.plugins[env][0]"]
