"""Real sshd and ssh, with the files that the plugin gives to a pod."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jobgate.plugins import Crew, CrewContainer
from tests.plugins.ssh.builder import crew, part, secret, stored, wired
from tests.plugins.ssh.machine import NEEDS, Machine, User

pytestmark = pytest.mark.needs(*NEEDS, root=True)

#: As the documentation says it.
ROOTS_SSHD = "/usr/sbin/sshd -D -e"
OTHERS_SSHD = "/usr/sbin/sshd -D -e -p 2222 -o PidFile=none -o AuthorizedKeysFile=/home/me/.ssh/authorized_keys"
DOCUMENTATION = Path("docs/reference/plugins/ssh.md")

OTHERS_FLAGS = ["--ssh-key-file-path=/home/me/.ssh", "--ssh-port=2222"]

#: Never ask for a password, and use the cheapest key exchange.
QUICK = ("-o", "BatchMode=yes", "-o", "KexAlgorithms=curve25519-sha256")

FORMS = ("", ".di-job", ".di-job.ns", ".di-job.ns.svc", ".di-job.ns.svc.cluster.local")


@dataclass(frozen=True)
class Case:
    """Who runs the pod, what the job says, and how sshd is started."""

    user: User
    root: bool | None
    flags: tuple[str, ...]
    sshd: str

    @property
    def job(self) -> Crew:
        learner = part(containers=(CrewContainer("main", root=self.root),), fs_group=self.user.fs_group)
        return crew(learner, part(name="chief", hostname="boss", subdomain="own"), flags=self.flags)


ROOT = Case(User(0), root=True, flags=(), sshd=ROOTS_SSHD)
IMAGES = Case(User(0), root=None, flags=(), sshd=ROOTS_SSHD)
GROUPED = Case(User(1000, 2000), root=False, flags=tuple(OTHERS_FLAGS), sshd=OTHERS_SSHD)
UNGROUPED = Case(User(1000), root=False, flags=tuple(OTHERS_FLAGS), sshd=OTHERS_SSHD)
ALL = {"root": ROOT, "the image's root": IMAGES, "a user with a group": GROUPED, "a user without": UNGROUPED}

Start = Callable[..., Machine]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a pod of a case, with the Secrets of its namespace."""
    with ExitStack() as stack:

        def started(case: Case, secrets: Mapping[str, Mapping[str, str]] | None = None) -> Machine:
            resolved = [f"job-learner-{index}{form}" for index in (0, 7) for form in FORMS if form]
            resolved += [f"boss.own{form.removeprefix('.di-job')}" for form in FORMS if form]
            machine = stack.enter_context(Machine(tmp_path, [*resolved, "elsewhere"]))
            pod = wired(case.job).value
            machine.mount(pod, secrets or {"job-ssh": keys(case.job)}, case.user.fs_group)
            output = machine.sshd(*case.sshd.split(), user=case.user)
            assert "Server listening" in output, output
            return machine

        yield started


def keys(job: Crew) -> dict[str, str]:
    data: dict[str, str] = stored(secret(job))["data"]
    return data


def ssh(machine: Machine, case: Case, host: str, *options: str) -> Any:
    folder = "/root/.ssh" if case.user.uid == 0 else "/home/me/.ssh"
    return machine.run("ssh", "-F", f"{folder}/config", *QUICK, *options, host, "id", "-u", user=case.user)


@pytest.mark.parametrize("who", ["root", "a user with a group"])
def test_every_host_of_the_job_is_logged_in_to_and_its_key_is_known(start: Start, who: str) -> None:
    case = ALL[who]
    machine = start(case)
    after_scaling = ("job-learner-7", "job-learner-7.di-job.ns.svc")
    for host in (*(f"job-learner-0{form}" for form in FORMS), *after_scaling, "boss", "boss.own", "boss.own.ns"):
        done = ssh(machine, case, host)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{case.user.uid}\n", ""), host


@pytest.mark.parametrize("sort", ["ed25519", "rsa"])
@pytest.mark.parametrize("who", ALL)
def test_each_sort_of_key_is_taken_from_each_user(start: Start, who: str, sort: str) -> None:
    case = ALL[who]
    case = Case(case.user, case.root, (*case.flags, f"--ssh-key-type={sort}"), case.sshd)
    done = ssh(start(case), case, "job-learner-0")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{case.user.uid}\n", "")


@pytest.mark.parametrize("who", ["root", "a user with a group"])
def test_in_the_home_of_the_user_ssh_needs_no_options(start: Start, who: str) -> None:
    case = ALL[who]
    # OpenSSH takes the home from the list of users.
    done = start(case).run("ssh", *QUICK, "job-learner-7", "id", "-u", user=case.user)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{case.user.uid}\n", "")


@pytest.mark.parametrize("who", ["root", "a user with a group"])
def test_the_key_of_another_job_is_rejected(start: Start, who: str) -> None:
    case = ALL[who]
    mixed = keys(case.job) | {"id_rsa": keys(case.job)["id_rsa"], "id_rsa.pub": ""}
    done = ssh(start(case, {"job-ssh": mixed}), case, "job-learner-0")
    assert done.returncode == 255
    assert "Permission denied (publickey" in done.stderr


@pytest.mark.parametrize("host", ["job-learner-0", "job-learner-0.di-job.ns.svc.cluster.local"])
@pytest.mark.parametrize("who", ["root", "a user with a group"])
def test_a_host_with_another_key_is_rejected(start: Start, who: str, host: str) -> None:
    case = ALL[who]
    mixed = keys(case.job) | {"ssh_host_key": keys(case.job)["ssh_host_key"]}
    done = ssh(start(case, {"job-ssh": mixed}), case, host)
    assert done.returncode == 255
    assert "Host key verification failed." in done.stderr


def test_an_sshd_with_the_host_key_of_its_image_is_rejected(start: Start) -> None:
    images_key = "/usr/sbin/sshd -D -e -h /etc/ssh/ssh_host_ecdsa_key"
    case = Case(User(0), root=True, flags=(), sshd=images_key)
    done = ssh(start(case), case, "job-learner-0")
    assert done.returncode == 255
    assert "Host key verification failed." in done.stderr


def test_an_sshd_with_its_own_configuration_can_be_given_the_host_key(start: Start) -> None:
    case = Case(User(0), root=True, flags=(), sshd=f"{ROOTS_SSHD} -f /dev/null -h /root/.ssh/ssh_host_key")
    done = ssh(start(case), case, "job-learner-0")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_host_of_nobody_is_not_taken_for_one_of_the_job(start: Start) -> None:
    done = ssh(start(ROOT), ROOT, "elsewhere")
    assert done.returncode == 255
    assert "Host key verification failed." in done.stderr


def test_a_port_that_the_job_does_not_say_keeps_host_checking(start: Start) -> None:
    case = Case(User(0), root=True, flags=(), sshd=f"{ROOTS_SSHD} -p 2200")
    machine = start(case)
    assert ssh(machine, case, "job-learner-0").returncode == 255
    done = ssh(machine, case, "job-learner-0", "-p", "2200")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("who", ["root", "a user with a group"])
def test_a_user_may_bring_the_key_pair(start: Start, who: str) -> None:
    case = ALL[who]
    brought = keys(case.job)
    mine = {"ssh-privatekey": brought["id_rsa"], "ssh-publickey": brought["id_rsa.pub"]}
    case = Case(case.user, case.root, (*case.flags, "--ssh-key-secret=mine"), case.sshd)
    done = ssh(start(case, {"job-ssh": keys(case.job), "mine": mine}), case, "job-learner-0")
    assert (done.returncode, done.stderr) == (0, "")


def test_root_with_a_group_is_rejected_for_a_reason(start: Start) -> None:
    """If this is let through, OpenSSH has changed its mind, and the plugin may too."""
    case = Case(User(0, 2000), root=True, flags=(), sshd=ROOTS_SSHD)
    machine = start(case)
    done = ssh(machine, case, "job-learner-0")
    assert done.returncode == 255
    done = machine.run("ssh-keygen", "-y", "-f", "/root/.ssh/id_rsa", user=case.user)
    assert "UNPROTECTED PRIVATE KEY FILE" in done.stderr


def test_the_documentation_says_how_sshd_is_started_here() -> None:
    text = DOCUMENTATION.read_text()
    assert ROOTS_SSHD in text
    assert OTHERS_SSHD in text
