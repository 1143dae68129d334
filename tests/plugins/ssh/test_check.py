"""The checks of jobs that ask for the plugin."""

import pytest

from jobgate.plugins import Crew, CrewContainer, Part
from jobgate.plugins.ssh import Ssh
from jobgate.plugins.svc import SvcArguments
from tests.plugins.ssh.builder import arguments, crew, findings_of, part
from webhook import Cause

ROOT = CrewContainer("main", root=True)
OTHER = CrewContainer("main", root=False)
SIDE = CrewContainer("side", root=False)
ROOT_SIDE = CrewContainer("side", root=True)
HOME = "--ssh-key-file-path=/home/me/.ssh"

READ_BY_A_GROUP = (
    "securityContext.fsGroup makes the private key readable by a group, and OpenSSH then rejects it for root"
)
REFUSED = f"Forbidden: task learner runs as root, and {READ_BY_A_GROUP}: remove fsGroup, or set runAsUser to a non-root user and --ssh-key-file-path to a directory of that user"
READ_BY_ALL = "task learner has no securityContext.fsGroup: all users in its containers can read the private key. Set fsGroup to allow only that group"
PUT_INTO_A_SECRET = "everyone who can read the job could read the key. Put both keys into a Secret with kubectl create secret generic <name> --type=kubernetes.io/ssh-auth --from-file=ssh-privatekey=<file> --from-file=ssh-publickey=<file>.pub, and set --ssh-key-secret=<name>"
NO_LOOK = "task learner runs as a non-root user, which cannot read /root/.ssh: set --ssh-key-file-path"


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ("--ssh-private-key=KEY", f"Forbidden: --ssh-private-key: {PUT_INTO_A_SECRET}"),
        ("--ssh-public-key=KEY", f"Forbidden: --ssh-public-key: {PUT_INTO_A_SECRET}"),
        ("--ssh-key-secret=job-ssh", 'Invalid value: "job-ssh": --ssh-key-secret: reserved for the Secret that is created for the job: use another name'),
        ("--no-root", "ssh no longer has the flag --no-root: set the directory of the keys with --ssh-key-file-path"),
    ],
)  # fmt: skip
def test_a_flag_that_is_understood_and_cannot_be_followed_is_answered(flag: str, expected: str) -> None:
    assert list(map(str, findings_of(crew(flags=[flag])))) == [f"spec.plugins[ssh]: {expected}"]


@pytest.mark.parametrize(
    ("case", "task", "flags", "expected"),
    [
        ("root as the image says, keys in root's home", part(), [], []),
        ("root as the template says, keys elsewhere", part(containers=(ROOT,)), ["--ssh-key-file-path=/keys"], []),
        ("another user with a group", part(containers=(OTHER,), fs_group=2000), [HOME], []),
        ("the image's user with a group, keys in its home", part(fs_group=2000), [HOME], []),
        ("root with a group", part(containers=(ROOT,), fs_group=2000), [], [REFUSED]),
        ("root with a group, keys elsewhere", part(containers=(ROOT,), fs_group=2000), [HOME], [REFUSED]),
        ("root with the group 0", part(containers=(ROOT,), fs_group=0), [], [REFUSED]),
        ("the image's user with a group, keys in root's home", part(fs_group=2000), [], [REFUSED]),
        ("another user without a group", part(containers=(OTHER,)), [HOME], [READ_BY_ALL]),
        ("the image's user without a group", part(), [HOME], [f"{READ_BY_ALL}; root cannot use the key then: if the image runs as root, set runAsUser: 0"]),
        ("another user, keys in root's home", part(containers=(OTHER,), fs_group=2000), [], [NO_LOOK]),
        ("another user, keys in a folder called nearly so", part(containers=(OTHER,), fs_group=2000), ["--ssh-key-file-path=/rooted"], []),
        ("root beside another user with a group", part(containers=(OTHER, ROOT_SIDE), fs_group=2000), [HOME], [f"task learner: {READ_BY_A_GROUP}: containers that run as root cannot use it: side"]),
        ("another user beside root without a group", part(containers=(ROOT, SIDE)), [HOME], ["task learner: some containers run as root, so only root can read the private key; side cannot use it"]),
        ("who prepares the pod does not log in", part(containers=(OTHER, CrewContainer("prepare", init=True, root=True)), fs_group=2000), [HOME], []),
    ],
)  # fmt: skip
def test_who_can_use_the_private_key_is_reported(case: str, task: Part, flags: list[str], expected: list[str]) -> None:
    assert list(map(str, findings_of(crew(task, flags=flags)))) == [f"spec.plugins[ssh]: {text}" for text in expected]


def test_only_what_cannot_work_at_all_is_rejected() -> None:
    assert isinstance(findings_of(crew(part(containers=(ROOT,), fs_group=1)))[0], Cause)
    for task in (part(containers=(OTHER,)), part(containers=(OTHER, ROOT_SIDE), fs_group=1)):
        assert not any(isinstance(finding, Cause) for finding in findings_of(crew(task, flags=[HOME])))


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (part(volumes=frozenset({"job-ssh"})), "Forbidden: task learner has a volume job-ssh, a name reserved for the keys: rename it"),
        (part(volumes=frozenset({"data"}), containers=(CrewContainer("main", mounts=("/root", "/root/.sshd", "/data")),)), None),
        *(
            (part(containers=(CrewContainer("main", mounts=(mount,)),)), f"Forbidden: container main of task learner mounts a volume at {mount}, a path reserved for the keys: use another path, or set another directory with --ssh-key-file-path")
            for mount in ("/root/.ssh", "/root/.ssh/", "/root//.ssh", "/root/.ssh/config", "/root/.ssh/deeper")
        ),
    ],
)  # fmt: skip
def test_what_stands_in_the_place_of_the_keys_is_rejected(task: Part, expected: str | None) -> None:
    assert list(map(str, findings_of(crew(task)))) == ([f"spec.plugins[ssh]: {expected}"] if expected else [])


@pytest.mark.parametrize("folder", ["/etc/volcano", "/etc/volcano/", "/etc/volcano/ssh"])
def test_the_keys_cannot_lie_among_the_host_lists(folder: str) -> None:
    keys = arguments(f"--ssh-key-file-path={folder}")
    text = "spec.plugins[ssh]: Forbidden: --ssh-key-file-path: svc mounts the host lists at /etc/volcano: use another directory"
    assert text in map(str, findings_of(crew(plugins={"svc": SvcArguments(), "ssh": keys})))
    assert text not in map(str, findings_of(crew(plugins={"ssh": keys})))


def test_a_job_whose_pods_nobody_finds_by_name_gets_a_hint_at_svc() -> None:
    lonely = crew(service_made=False)
    text = "spec.plugins[ssh]: the job's pods have no Service, and ssh needs their DNS names: add the plugin svc"
    assert list(map(str, findings_of(lonely))) == [text]
    assert findings_of(crew(service_made=False, plugins={"svc": SvcArguments(), "ssh": arguments()})) == []


def test_host_names_that_no_secret_can_hold_are_rejected() -> None:
    def fixed(count: int) -> Crew:
        return crew(*(part(name=f"t{place}", hostname=f"h{place}", subdomain="s" * 63) for place in range(count)))

    assert findings_of(fixed(10)) == []
    assert list(map(str, findings_of(fixed(1000)))) == [
        "spec.plugins[ssh]: Forbidden: the tasks set more host names than fit into a Secret of 1048576 bytes: remove hostname and subdomain from the templates"
    ]


def test_the_volume_is_called_by_the_job() -> None:
    (one,) = Ssh().derived(crew(), arguments())
    assert (one.maker, one.thing, one.name, one.extra) == ("plugin ssh", "volume", "<job>-ssh", 4)
    assert one.fault_of("a.b")
