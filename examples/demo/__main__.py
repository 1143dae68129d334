"""The demo: a DIJob is reviewed, applied to a real API server and defaulted; broken jobs are denied.

Then a job with plugins runs: its simulated pods get their index and the names of the others. At the end a distributed
program really runs: the runner creates its pods, which are processes of this machine.

The demo starts a control plane on loopback, installs jobgate from its manifests, and keeps both running until Ctrl-C.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from controlplane.assets import find_or_build_whole
from controlplane.controller import controller
from controlplane.operators import DIOrchestrator
from controlplane.plane import ControlPlane
from controlplane.processes import ProcessNode
from controlplane.processes.sandbox import MissingError
from controlplane.progress import Terminal
from controlplane.runner import runner
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from webhook.values import difference_lines

JOBS = Path(__file__).parent.parent / "dijob"
GOOD = (JOBS / "with-tasks.yaml", JOBS / "minimal.yaml")
WIRED = JOBS / "plugins.yaml"
SUM = Path(__file__).parent / "sum-of-ranks.yaml"
#: The kind that the runner runs; an operator runs the DIJobs.
RUN = "torchjobs.train.distributed.io"
BROKEN = tuple(sorted((JOBS / "broken").glob("*.yaml")))


def main() -> None:
    """Run the demo."""
    arguments = argparse.ArgumentParser(prog="make demo", description=__doc__)
    arguments.add_argument("--once", action="store_true", help="exit at the end, instead of waiting for Ctrl-C")
    once = arguments.parse_args().once
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    title("1. Reviewed offline, with no cluster at all")
    review(GOOD[0])
    title("2. A real control plane (the first time, it is built: some minutes)")
    assets = find_or_build_whole(Terminal())
    with WholeControlPlane(assets) as plane, tempfile.TemporaryDirectory(prefix="jobgate-demo-") as folder:
        say(f"kube-apiserver answers at {plane.url}")
        title("3. jobgate is installed: CRD, webhook configurations with the CA bundle, Service")
        with InstalledWebhook(plane, Path(folder), [f"--run={RUN}"]):
            say(plane.kubectl("get", "crd,mutatingwebhookconfigurations,validatingwebhookconfigurations").stdout)
            title("4. Jobs are applied; what they leave out is filled in")
            for job in GOOD:
                apply(plane, job)
            say(plane.kubectl("get", "dijobs").stdout)
            title("5. Broken jobs are refused, with every fault at once")
            for job in BROKEN:
                apply(plane, job)
            title("6. The pods of a job with plugins find each other")
            run(plane, Path(folder))
            title("7. A distributed program runs to its end, with no operator: jobgate run makes its pods")
            train(plane, Path(folder))
            title("8. Yours")
            say(f"  export KUBECONFIG={plane.kubeconfig}\n  {assets.kubectl} apply -f examples/dijob/full.yaml\n")
            if not once:
                say("The cluster is up until Ctrl-C.")
                with controller(plane, Path(folder)):
                    wait()


def review(job: Path) -> None:
    """Show the offline review of a file."""
    say(f"$ jobgate review {relative(job)}")
    subprocess.run([sys.executable, "-c", "from jobgate.cli import main; main()", "review", relative(job)], check=False)


def apply(plane: ControlPlane, job: Path) -> None:
    """Apply a file as a user does, and show the stored defaults, or why it is denied."""
    say(f"$ kubectl apply --validate=strict -f {relative(job)}")
    done = plane.kubectl("apply", "--validate=strict", "-f", str(job), check=False)
    say((done.stdout + done.stderr).rstrip())
    if done.returncode == 0:
        written = yaml.safe_load(job.read_text())
        stored = yaml.safe_load(plane.kubectl("get", "dijob", written["metadata"]["name"], "-o", "yaml").stdout)
        for sign, change in difference_lines(written["spec"], stored["spec"]):
            say(f"    {sign} spec.{change}")
    say("")


def run(plane: WholeControlPlane, folder: Path) -> None:
    """Apply a job with plugins, let an operator create its pods, and show what is in them."""
    with controller(plane, folder), plane.api() as api:
        apply(plane, WIRED)
        name = yaml.safe_load(WIRED.read_text())["metadata"]["name"]
        mine = ("get", "configmap,secret,networkpolicy", "-l", f"jobgate.dev/job={name}", "-o", "name")
        wait_for(
            lambda: plane.kubectl(*mine).stdout.count("/") >= 3, 60, what="the controller to make what the job needs"
        )
        say(plane.kubectl(*mine).stdout)
        operator = DIOrchestrator(api, "default", erases=False)
        pods = ("get", "pods", "-l", f"diengine/job={name}")

        def running() -> bool:
            operator.sync()
            return plane.kubectl(*pods, "--no-headers").stdout.count("Running") == 4

        wait_for(running, 60, what="the pods to run")
        say(plane.kubectl(*pods, "-L", "diengine/task-name").stdout)
        say(f"$ kubectl get pod {name}-collector-1: the variables of its container, without the long ones")
        pod = json.loads(plane.kubectl("get", "pod", f"{name}-collector-1", "-o", "json").stdout)
        for variable in pod["spec"]["containers"][0]["env"]:
            source = (variable.get("valueFrom") or {}).get("configMapKeyRef", {})
            value = variable.get("value", f"from ConfigMap {source.get('name')}" if source else "")
            say(f"    {variable['name']}={value if len(value) < 70 else value[:67] + '…'}")
        say("and its file /etc/volcano/collector.host:")
        lists = json.loads(plane.kubectl("get", "configmap", f"{name}-svc", "-o", "json").stdout)["data"]
        say("".join(f"    {host}\n" for host in lists["collector.host"].splitlines()))


def train(plane: WholeControlPlane, folder: Path) -> None:
    """Apply a job, let the runner create its pods as processes of this machine, and show their output."""
    try:
        with (
            ProcessNode(plane, "this-machine", folder / "node") as node,
            runner(plane, folder / "runner.log", kinds=[RUN]),
        ):
            say(f"$ kubectl apply -f {relative(SUM)}")
            say(plane.kubectl("apply", "-f", str(SUM)).stdout)
            plane.kubectl("wait", "--for=condition=Succeeded", "torchjob/sum-of-ranks", "--timeout=120s")
            say(plane.kubectl("get", "torchjobs,jobs,pods", "-l", "!diengine/job").stdout)
            say("What the pods printed:")
            for log in sorted(node.folder.glob("default.sum-of-ranks-*/torch.log")):
                say("".join(f"    {line}\n" for line in log.read_text().splitlines()).rstrip())
    except MissingError as error:
        say(f"not shown here: {error}")


def wait() -> None:
    """Wait for Ctrl-C."""
    try:
        signal.pause()
    except KeyboardInterrupt:
        say("\nstopping")


def relative(path: Path) -> str:
    """Return a path relative to the project's folder."""
    return str(path.relative_to(JOBS.parent.parent))


def title(text: str) -> None:
    """Print the title of a part of the demo."""
    say(f"\n\033[1m{text}\033[0m\n" if sys.stdout.isatty() else f"\n{text}\n")


def say(text: str) -> None:
    """Print and flush, to keep the order with the output of subprocesses."""
    print(text, flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
