"""Pods that are processes: what a kubelet does for them, and distributed programs that really run.

The programs' pods come of jobs that the runner runs, by batch Jobs of kube-controller-manager; the webhook wires them, and
the controller makes what their plugins declare.
"""

import errno
import os
import ssl
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controlplane.assets import WholeAssets
from controlplane.controller import controller, install
from controlplane.fixtures import new_namespace
from controlplane.plane import ControlPlaneError
from controlplane.processes import ProcessNode
from controlplane.processes.node import CHOSEN
from controlplane.processes.sandbox import NEEDS, NODE_ADDRESS, MissingError, Sandbox, node_network
from controlplane.runner import RUN, runner
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane, has_account
from jobgate.kinds import installed
from tests.missing import lacking
from webhook.values import mapping

PYTHON = "/usr/bin/python3"
pytestmark = pytest.mark.needs(*NEEDS, PYTHON, root=True)

WAIT = 120.0

#: Each rank sends a number to the first, as a store of torchrun's does, and gets back what all sum up to.
RENDEZVOUS = """
import os, socket, time
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if rank == 0:
    server = socket.create_server(("", place[1]))
    peers = [server.accept()[0] for _ in range(size - 1)]
    total = sum(int(peer.makefile().readline()) for peer in peers)
    for peer in peers:
        peer.sendall(b"%d\\n" % total)
else:
    for _ in range(300):
        try:
            peer = socket.create_connection(place, 5)
            break
        except OSError:
            time.sleep(0.2)
    peer.sendall(b"%d\\n" % rank)
    total = int(peer.makefile().readline())
print("rank", rank, "of", size, "sum", total)
"""

#: Servers and workers report to the scheduler, which lets all go when it has heard of as many as there are.
DMLC = """
import os, socket, time
role = os.environ["DMLC_ROLE"]
place = (os.environ["DMLC_PS_ROOT_URI"], int(os.environ["DMLC_PS_ROOT_PORT"]))
count = int(os.environ["DMLC_NUM_SERVER"]) + int(os.environ["DMLC_NUM_WORKER"])
if role == "scheduler":
    server = socket.create_server(("", place[1]))
    peers = [server.accept()[0] for _ in range(count)]
    print("scheduler heard", sorted(peer.makefile().readline().strip() for peer in peers))
    for peer in peers:
        peer.sendall(b"go\\n")
else:
    for _ in range(300):
        try:
            peer = socket.create_connection(place, 5)
            break
        except OSError:
            time.sleep(0.2)
    peer.sendall(role.encode() + b"\\n")
    print(role, "may", peer.makefile().readline().strip())
"""

SSHD = "mkdir -p /run/sshd; /usr/sbin/sshd"
#: Prints the rank and the host.
HELLO = "sh -c 'echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname)'"
MPIRUN = f"""
{SSHD}
for file in /etc/volcano/launcher.host /etc/volcano/worker.host; do cat $file; echo; done > /run/hosts
for host in $(cat /run/hosts); do until ssh $host true; do sleep 0.3; done; done
mpirun --allow-run-as-root --hostfile /run/hosts -N 1 --mca oob_tcp_if_include eth0 {HELLO}
"""
#: The list of hosts in a file of the plugin svc, as Volcano's example reads it.
HOSTS = 'MPI_HOST=`cat /etc/volcano/worker.host | tr "\\n" ","`'


@pytest.fixture(scope="module")
def plane(whole_assets: WholeAssets, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeControlPlane]:
    """A control plane with the webhooks, the companion controller, and the runner."""
    folder = tmp_path_factory.mktemp("plane")
    with WholeControlPlane(whole_assets) as result, InstalledWebhook(result, folder, RUN):
        install(result.client)
        with controller(result, folder, RUN), runner(result, folder / "runner.log"):
            yield result


@pytest.fixture(scope="module")
def node(plane: WholeControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessNode]:
    try:
        with ProcessNode(plane, "processes", tmp_path_factory.mktemp("node")) as result:
            yield result
            assert result.failure is None
    except MissingError as error:
        lacking(f"{error}: run the tests where namespaces are allowed")


@pytest.fixture
def space(plane: WholeControlPlane) -> Space:
    name = new_namespace(plane.client)
    wait_for(lambda: has_account(plane.client, name), WAIT, what="the namespace has its ServiceAccount")
    return Space(plane.client, name)


def container(*command: str, **fields: Any) -> dict[str, Any]:
    return {"name": "main", "image": "none", "command": list(command), **fields}


def pod(name: str, *containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    chosen = {**CHOSEN, "restartPolicy": "Never", "containers": list(containers), **spec}
    return {"metadata": {"name": name, "labels": {"app": name}}, "spec": chosen}


def ended(space: Space, name: str) -> dict[str, Any]:
    """The status of a pod that has ended."""
    wait_for(lambda: space.get("pods", name)["status"]["phase"] in {"Succeeded", "Failed"}, WAIT, what=f"{name} ends")
    status: dict[str, Any] = space.get("pods", name)["status"]
    return status


# Duties of a kubelet


def test_a_pod_reaches_its_node_at_once_while_other_links_come_and_go(tmp_path: Path) -> None:
    try:
        network = node_network(WAIT)
    except MissingError as error:
        lacking(f"{error}: run the tests where namespaces are allowed")
    # Nothing listens: the node itself refuses the connection.
    asks = f"import socket; socket.setdefaulttimeout(10); print(socket.socket().connect_ex(('{NODE_ADDRESS}', 9)))"
    with closing(network), closing(Sandbox(tmp_path / "pod", network, pod("asks"), "10.88.0.2")) as sandbox:
        # Each link has a lower MAC address than those before.
        for step in (
            "ip link add two address 00:00:00:00:00:02 type veth && ip link set two master br0",
            "ip link add one address 00:00:00:00:00:01 type veth && ip link set one master br0",
            "ip link delete one",
        ):
            subprocess.run([*network.enter("--net"), "sh", "-c", step], check=True)
            connects = [*sandbox.holder.enter("--net"), PYTHON, "-c", asks]
            answer = subprocess.run(connects, capture_output=True, text=True, check=True)
            assert answer.stdout == f"{errno.ECONNREFUSED}\n", step


def test_kubectl_shows_the_output_of_pods(plane: WholeControlPlane, space: Space, node: ProcessNode) -> None:
    # Its folder is mounted at /mnt.
    waits = "until [ -e /mnt/go ]; do sleep 0.1; done"
    counts = container("sh", "-c", f"for i in 1 2 3; do echo line $i; done; {waits}; echo last >&2")
    space.create("pods", pod("talks", counts))
    logs = ("--namespace", space.name, "logs", "talks")
    wait_for(lambda: "line 3" in plane.kubectl(*logs, check=False).stdout, WAIT, what="it talks")
    assert plane.kubectl(*logs, "--tail=2").stdout == "line 2\nline 3\n"
    follow = [str(plane.assets.kubectl), *logs, "--follow"]
    with subprocess.Popen(follow, env=plane.environment(), stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        assert [following.stdout.readline() for _ in range(3)] == ["line 1\n", "line 2\n", "line 3\n"]
        (folder,) = node.folder.glob(f"{space.name}.talks.*")
        (folder / "go").touch()
        assert following.stdout.read() == "last\n"
    assert plane.kubectl(*logs, "--limit-bytes=4").stdout == "line"
    refused = plane.kubectl(*logs, "--timestamps", check=False)
    assert refused.returncode == 1
    assert "not supported for pods that are processes: timestamps" in refused.stderr


def test_only_the_api_server_reads_logs(plane: WholeControlPlane, node: ProcessNode) -> None:
    port = plane.client.get(f"/api/v1/nodes/{node.name}")[1]["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
    path = f"https://127.0.0.1:{port}/containerLogs/default/a/b"

    def answer(user: str = "") -> str:
        context = ssl.create_default_context(cafile=str(plane.ca))
        if user:
            context.load_cert_chain(plane.folder / f"{user}.crt", plane.folder / f"{user}.key")
        try:
            with urllib.request.urlopen(path, context=context) as response:
                return str(response.status)
        except OSError as error:
            return str(error)

    assert "HTTP Error 404" in answer("kubelet-client")
    assert "HTTP Error" not in answer()


def test_a_node_ends_with_an_error_when_its_lifetime_is_over(
    plane: WholeControlPlane, space: Space, tmp_path_factory: pytest.TempPathFactory, node: ProcessNode
) -> None:
    with pytest.raises(ControlPlaneError, match="node brief: its lifetime of 4 s is over"):  # noqa: PT012, SIM117
        with ProcessNode(plane, "brief", tmp_path_factory.mktemp("brief"), life=4) as brief:
            lasting = pod("lasts", container("sleep", "60"))
            lasting["spec"]["nodeName"] = brief.name
            space.create("pods", lasting)
            status = ended(space, "lasts")
            assert (status["phase"], status["reason"]) == ("Failed", "NodeLifetimeOver")
            assert "its lifetime of 4 s is over" in status["message"]
            (ready,) = plane.client.get("/api/v1/nodes/brief")[1]["status"]["conditions"]
            assert (ready["status"], ready["reason"]) == ("False", "LifetimeOver")


@pytest.mark.parametrize(
    "command, phase, code", [("exit 0", "Succeeded", 0), ("exit 7", "Failed", 7), ("kill -9 $$$$", "Failed", 137)]
)
def test_a_pod_ends_as_its_process_does(node: ProcessNode, space: Space, command: str, phase: str, code: int) -> None:
    space.create("pods", pod("one", container("sh", "-c", command)))
    status = ended(space, "one")
    assert status["phase"] == phase
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == code


# Distributed programs


def run(space: Space, kind: str, **spec: Any) -> tuple[str, str]:
    """Store a job for the runner; return its resource and its group."""
    install(space.api, space.name)  # the right to Secrets there
    result = next(each for each in installed() if each.kind == kind)
    group = f"{result.group}/{result.version}"
    job = {"apiVersion": group, "kind": kind, "metadata": {"name": "train"}, "spec": spec}
    space.create(result.plural, job, group)
    return result.plural, group


def template(name: str, *command: str) -> dict[str, Any]:
    return {"spec": {**CHOSEN, "containers": [{"name": name, "image": "none", "command": list(command)}]}}


def succeeded(node: ProcessNode, space: Space, resource: str, group: str) -> None:
    """Wait until a job says that it has succeeded."""

    def done() -> bool:
        status = space.get(resource, "train", group).get("status") or {}
        conditions = {each.get("type") for each in status.get("conditions") or () if each["status"] == "True"}
        assert not conditions & {"Failed"}, status
        phases = {status.get("phase"), mapping(status.get("state")).get("phase")}
        return bool({"Succeeded", "Completed"} & (phases | conditions))

    try:
        wait_for(done, WAIT, what="the job has succeeded")
    except TimeoutError as error:
        results = [path.read_text()[-1000:] for path in node.folder.glob(f"{space.name}.*/*.log")]
        status = space.get(resource, "train", group).get("status")
        raise AssertionError(f"{error}\n{status}\n" + "\n".join(results)) from error


def logs(node: ProcessNode, space: Space, container: str) -> list[str]:
    """The logs of the containers with this name, in order; deleted pods included."""
    files = node.folder.glob(f"{space.name}.*/{container}.log")
    return sorted(line for file in files for line in file.read_text(encoding="utf-8").splitlines())


def test_ranks_meet_at_the_master_and_sum_up(node: ProcessNode, space: Space) -> None:
    tasks = {
        "Master": {"template": template("torch", PYTHON, "-c", RENDEZVOUS)},
        "Worker": {"numTasks": 2, "template": template("torch", PYTHON, "-c", RENDEZVOUS)},
    }
    succeeded(node, space, *run(space, "TorchJob", torchTaskSpecs=tasks))
    assert logs(node, space, "torch") == [f"rank {rank} of 3 sum 3" for rank in range(3)]


def test_roles_of_dmlc_find_their_scheduler(node: ProcessNode, space: Space) -> None:
    tasks = [
        {"mxReplicaType": role, "replicas": replicas, "template": template("mxnet", PYTHON, "-c", DMLC)}
        for role, replicas in (("SCHEDULER", 1), ("SERVER", 1), ("WORKER", 2))
    ]
    succeeded(node, space, *run(space, "MxJob", jobMode="dist", replicaSpecs=tasks))
    assert logs(node, space, "mxnet") == [
        "scheduler heard ['server', 'worker', 'worker']",
        "server may go",
        "worker may go",
        "worker may go",
    ]


#: Path of a Python with PyTorch, which is too large for the usual tests. Pods see no home folders, /opt and /tmp.
TORCH = os.environ.get("JOBGATE_TORCH_PYTHON")
ELASTIC = """
import os, time, torch, torch.distributed as dist
dist.init_process_group("gloo")
for _ in range(10):
    total = torch.ones(1)
    dist.all_reduce(total)
    time.sleep(0.5)
print("rank", dist.get_rank(), "of", dist.get_world_size(), "sum", int(total.item()))
dist.destroy_process_group()
"""


@pytest.mark.skipif(TORCH is None, reason="JOBGATE_TORCH_PYTHON is not set")
@pytest.mark.parametrize("added", [0, 1])
def test_an_elastic_job_ends_at_its_maximum_and_when_it_is_scaled_at_its_end(
    node: ProcessNode, space: Space, added: int
) -> None:
    """A whole command line starts torchrun. The pod that is added finds no rendezvous any more."""
    space.create("configmaps", {"metadata": {"name": "code"}, "data": {"train.py": ELASTIC}})
    pod = template("torch", str(TORCH), "-m", "torch.distributed.run", "/code/train.py")
    pod["spec"]["volumes"] = [{"name": "code", "configMap": {"name": "code"}}]
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "code", "mountPath": "/code"}]
    workers = 2 - added
    policy = {
        "numMinReplicas": 1,
        "numMaxReplicas": 2,
        "rendezvousBackend": "c10d",
        "rendezvousEndpoint": "train-master-0:29400",
    }
    tasks = {
        "Master": {"template": pod, "restartPolicy": "OnFailure"},
        "Worker": {"template": pod, "numTasks": workers},
    }
    plural, group = run(space, "TorchJob", torchTaskSpecs=tasks, enableTorchElastic=True, torchElasticPolicy=policy)
    if added:
        wait_for(lambda: any("sum" in line for line in logs(node, space, "torch")), WAIT, what="the training has ended")
        space.patch(plural, "train", {"spec": {"torchTaskSpecs": {"Worker": {"numTasks": 2}}}}, group)
    succeeded(node, space, plural, group)
    lines = [line for line in logs(node, space, "torch") if line.startswith("rank")]
    assert lines == [f"rank {rank} of {workers + 1} sum {workers + 1}" for rank in range(workers + 1)]


@pytest.mark.needs("mpirun", "ssh", "/usr/sbin/sshd")
def test_mpirun_starts_ranks_on_all_pods(node: ProcessNode, space: Space) -> None:
    done = [{"event": "TaskCompleted", "action": "CompleteJob"}]
    tasks = [
        {"name": "launcher", "template": template("di-container", "sh", "-c", MPIRUN), "policies": done},
        {"name": "worker", "replicas": 2, "template": template("di-container", "sh", "-c", f"{SSHD} -D")},
    ]
    succeeded(node, space, *run(space, "DIJob", plugins={"svc": [], "ssh": []}, tasks=tasks))
    hosts = ["train-launcher-0", "train-worker-0", "train-worker-1"]
    assert_ranks(node, space, "di-container", hosts)


def assert_ranks(node: ProcessNode, space: Space, container: str, hosts: list[str]) -> None:
    """Check that each rank of an MPI program has run once, one on each host."""
    lines = [line for line in logs(node, space, container) if line.startswith("rank")]
    assert [line.split(" on ")[0] for line in lines] == [f"rank {rank} of {len(hosts)}" for rank in range(len(hosts))]
    assert sorted(line.split(" on ")[1] for line in lines) == hosts


@pytest.mark.needs("mpiexec", "ssh", "/usr/sbin/sshd")
@pytest.mark.parametrize(
    ("case", "plugins", "prepare"),
    [
        ("with ssh and svc", {"ssh": [], "svc": []}, f"{HOSTS}; {SSHD}"),
        ("with the plugin mpi", {"mpi": ["--master=master", "--worker=worker", "--port=22"]}, SSHD),
    ],
)
def test_the_documented_mpi_jobs_of_volcano_run_unchanged(
    node: ProcessNode, space: Space, case: str, plugins: dict[str, list[str]], prepare: str
) -> None:
    """The pods start sshd without options, and the master fails until sshd of the workers can be reached."""
    mpiexec = f"mpiexec --allow-run-as-root --host ${{MPI_HOST}} -np 2 {HELLO}"
    succeeded(node, space, *run_mpi(space, plugins, f"{prepare}; {mpiexec};", f"{SSHD} -D;"))
    assert_ranks(node, space, "master", ["train-worker-0", "train-worker-1"])


def run_mpi(space: Space, plugins: dict[str, list[str]], master: str, worker: str, **spec: Any) -> tuple[str, str]:
    """Create a Volcano Job with a master and two workers; return its resource and its group."""
    complete = [{"event": "TaskCompleted", "action": "CompleteJob"}]
    tasks: list[dict[str, Any]] = [
        {"name": "master", "template": template("master", "sh", "-c", master), "policies": complete, "replicas": 1},
        {"name": "worker", "template": template("worker", "sh", "-c", worker), "replicas": 2},
    ]
    for task in tasks:
        pod = task["template"]["spec"]
        pod |= {"restartPolicy": "OnFailure", **spec}
        for volume in pod.get("volumes", ()):
            mount = {"name": volume["name"], "mountPath": "/etc/passwd", "subPath": "passwd"}
            pod["containers"][0]["volumeMounts"] = [mount]
    return run(space, "Job", minAvailable=3, schedulerName="volcano", plugins=plugins, tasks=tasks)


@pytest.mark.needs("mpiexec", "ssh", "/usr/sbin/sshd", "setpriv")
def test_mpi_runs_as_another_user_than_root(node: ProcessNode, space: Space) -> None:
    users = {"passwd": "root:x:0:0::/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\n"}
    space.create("configmaps", {"metadata": {"name": "users"}, "data": users})
    flags = ["--ssh-key-file-path=/home/me/.ssh", "--ssh-port=2222"]
    keys = "-o AuthorizedKeysFile=/home/me/.ssh/authorized_keys"
    worker = f"exec /usr/sbin/sshd -D -e -p 2222 -o PidFile=none -o UsePAM=no {keys}"
    job = run_mpi(
        space,
        {"mpi": [], "ssh": flags},
        f"HOME=/home/me mpiexec --host $MPI_HOST -np 2 {HELLO.replace('hostname', 'hostname) as $(id -u')}",
        worker,
        securityContext={"runAsUser": 1000, "fsGroup": 1000},
        volumes=[{"name": "users", "configMap": {"name": "users"}}],
    )
    succeeded(node, space, *job)
    assert_ranks(node, space, "master", ["train-worker-0 as 1000", "train-worker-1 as 1000"])
