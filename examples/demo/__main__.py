"""The demo: a DIJob is reviewed, applied to a real API server and defaulted; broken jobs are denied.

Then `jobgate run` runs a job with plugins: its simulated pods get their index and the names of the others. At the end a
distributed program really runs: its pods are processes of this machine.

The demo starts a control plane on loopback, installs jobgate from its manifests, and keeps everything running until
Ctrl-C, or for the time of `--life`: then your own jobs run, and `jobgate console` shows what was reviewed.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import yaml

from controlplane.assets import find_or_build_whole
from controlplane.controller import controller
from controlplane.plane import ControlPlane, ControlPlaneError
from controlplane.processes import ProcessNode
from controlplane.processes.sandbox import MissingError
from controlplane.progress import Terminal
from controlplane.runner import RUN, runner
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from webhook.values import difference_lines

ROOT = Path(__file__).parent.parent.parent
JOBS = ROOT / "examples" / "dijob"
GOOD = (JOBS / "with-tasks.yaml", JOBS / "minimal.yaml")
WIRED = JOBS / "plugins.yaml"
SUM = Path(__file__).parent / "sum-of-ranks.yaml"
BROKEN = tuple(sorted((JOBS / "broken").glob("*.yaml")))
#: Reviews that the server keeps for the console.
KEPT = 500
#: Seconds until the demo ends, a day, and what the node that runs pods as processes may need before and after them.
LIFE, SPARE = 86400.0, 600.0


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--once", action="store_true", help="exit at the end, instead of waiting for Ctrl-C")
    parser.add_argument(
        "--life",
        type=float,
        default=LIFE,
        metavar="SECONDS",
        help="how long the cluster is up at the end (default: a day)",
    )
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started this with SIGINT ignored
    title("1. Reviewed offline, with no cluster at all")
    review(GOOD[0])
    title("2. A real control plane (the first time, it is built: some minutes)")
    assets = find_or_build_whole(Terminal())
    with ExitStack() as stack:
        plane = stack.enter_context(WholeControlPlane(assets))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="jobgate-demo-")))
        say(f"kube-apiserver answers at {plane.url}")
        title("3. jobgate is installed: CRD, webhook configurations with the CA bundle, Service")
        webhook = stack.enter_context(InstalledWebhook(plane, folder, [*RUN, f"--keep-reviews={KEPT}"]))
        say(plane.kubectl("get", "crd,mutatingwebhookconfigurations,validatingwebhookconfigurations").stdout)
        title("4. Jobs are applied; what they leave out is filled in")
        for job in GOOD:
            apply(plane, job)
        say(plane.kubectl("get", "dijobs").stdout)
        title("5. Broken jobs are refused, with every fault at once")
        for job in BROKEN:
            apply(plane, job)
        title("6. jobgate run makes the pods of a job with plugins, which find each other; they are simulated")
        stack.enter_context(controller(plane, folder, RUN))
        stack.enter_context(runner(plane, folder / "runner.log"))
        run(plane)
        title("7. A distributed program runs to its end; its pods are processes of this machine")
        node = None
        try:
            life = arguments.life + SPARE
            node = stack.enter_context(ProcessNode(plane, "this-machine", folder / "node", life=life))
            train(plane)
        except MissingError as error:
            say(f"not shown here: {error}")
        title("8. Yours")
        yours(plane, node, folder, webhook)
        if not arguments.once:
            wait(node, arguments.life)


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


def run(plane: WholeControlPlane) -> None:
    """Apply a job with plugins, and show the pods that the runner creates, and what is in them."""
    apply(plane, WIRED)
    name = yaml.safe_load(WIRED.read_text())["metadata"]["name"]
    mine = ("get", "configmap,secret,networkpolicy", "-l", f"jobgate.dev/job={name}", "-o", "name")
    wait_for(lambda: plane.kubectl(*mine).stdout.count("/") >= 3, what="the controller to make what the job needs")
    say(plane.kubectl(*mine).stdout)
    pods = ("get", "pods", "-l", f"jobgate.dev/job={name}")
    wait_for(lambda: plane.kubectl(*pods, "--no-headers").stdout.count("Running") == 4, what="the pods to run")
    say(plane.kubectl(*pods, "-L", "jobgate.dev/task").stdout)
    of_task = (*pods, "-l", f"jobgate.dev/job={name},jobgate.dev/task=collector", "-o", "json")
    pod = json.loads(plane.kubectl(*of_task).stdout)["items"][-1]
    say(f"$ kubectl get pod {pod['metadata']['name']}: the variables of its container, without the long ones")
    for variable in pod["spec"]["containers"][0]["env"]:
        source = (variable.get("valueFrom") or {}).get("configMapKeyRef", {})
        value = variable.get("value", f"from ConfigMap {source.get('name')}" if source else "")
        say(f"    {variable['name']}={value if len(value) < 70 else value[:67] + '…'}")
    say("and its file /etc/volcano/collector.host:")
    lists = json.loads(plane.kubectl("get", "configmap", f"{name}-svc", "-o", "json").stdout)["data"]
    say("".join(f"    {host}\n" for host in lists["collector.host"].splitlines()))


def train(plane: WholeControlPlane) -> None:
    """Apply a job, let the runner create its pods as processes of this machine, and show their output."""
    say(f"$ kubectl apply -f {relative(SUM)}")
    say(plane.kubectl("apply", "-f", str(SUM)).stdout)
    plane.kubectl("wait", "--for=condition=Succeeded", "torchjob/sum-of-ranks", "--timeout=120s")
    say(plane.kubectl("get", "torchjobs").stdout)
    say(plane.kubectl("get", "jobs.batch,pods", "-l", "jobgate.dev/job=sum-of-ranks").stdout)
    say("$ kubectl logs, of each pod")
    names = plane.kubectl("get", "pods", "-l", "jobgate.dev/job=sum-of-ranks", "-o", "name").stdout.split()
    for name in names:
        say(f"    {plane.kubectl('logs', name).stdout.rstrip()}")


def yours(plane: WholeControlPlane, node: ProcessNode | None, folder: Path, webhook: InstalledWebhook) -> None:
    """Leave a cluster in which the user's own jobs run, and say how, and how to see what was reviewed."""
    plane.kubectl("delete", "dijobs,torchjobs", "--all")
    kubectl, example = plane.assets.kubectl, relative(SUM)
    say(f"  export KUBECONFIG={plane.kubeconfig}\n  alias kubectl={kubectl}")
    if node is None:
        say(f"  kubectl apply -f {relative(JOBS / 'full.yaml')}\n  kubectl get pods\n\nPods are simulated.")
    else:
        # From now on all pods become processes.
        plane.kubectl("taint", "node", node.name, "jobgate.dev/processes-")
        plane.kubectl("cordon", "node-0", "node-1")
        say(f"  kubectl apply -f {example}    # or a job of your own, of any kind\n  kubectl get pods")
        say("  kubectl logs --follow POD\n")
        say("Pods are processes of this machine: each container needs a `command`, as there are no images.")
    say(f"The runner's log: {folder / 'runner.log'}\n")
    say("See in a browser what jobgate answered so far, with each denial beside its line, and your own jobs:\n")
    program, server = relative(Path(sys.executable).with_name("jobgate")), f"http://127.0.0.1:{webhook.health_port}"
    say(f"  {program} console --kubeconfig {plane.kubeconfig} --server {server}\n")


def wait(node: ProcessNode | None, life: float) -> None:
    """Wait for Ctrl-C, for the end of the announced time, or until the node fails."""
    end = time.monotonic() + life
    last = datetime.now(UTC).astimezone() + timedelta(seconds=life)
    say(f"The cluster is up until you press Ctrl-C, or until {last:%a %H:%M:%S}.")
    try:
        while (left := end - time.monotonic()) > 0 and (node is None or node.failure is None):
            time.sleep(min(left, 1))
        say("\nstopping" + ("" if left > 0 else f": the {life:g} s of --life are over"))
    except KeyboardInterrupt:
        say("\nstopping")


def relative(path: Path) -> str:
    """Return a path relative to the project's folder, if it is in there."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


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
    except ControlPlaneError as error:
        sys.exit(f"\n{error}")
