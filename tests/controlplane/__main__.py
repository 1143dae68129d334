"""`python -m tests.controlplane build | run | lock`."""

import argparse
import signal
import sys

from tests.controlplane.assets import find_or_build
from tests.controlplane.lock import lock
from tests.controlplane.plane import ControlPlane, ControlPlaneError
from tests.controlplane.progress import Progress, Terminal
from tests.controlplane.run import BuildError


def main(argv: list[str] | None = None) -> int:
    """Do what the command line asks; 0 when that went well."""
    parser = argparse.ArgumentParser(prog="python -m tests.controlplane", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "build", help="build kube-apiserver, etcd and kubectl into the cache, as far as they are missing"
    )
    commands.add_parser("run", help="start a control plane and keep it until Ctrl-C")
    commands.add_parser("lock", help="write go/go.mod and go/go.sum for the version in versions.py")
    command = parser.parse_args(argv).command
    progress = Terminal()
    try:
        if command == "build":
            _build(progress)
        elif command == "run":
            _run(progress)
        else:
            lock(progress)
    except (BuildError, ControlPlaneError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _build(progress: Progress) -> None:
    assets = find_or_build(progress)
    for program in (assets.kube_apiserver, assets.etcd, assets.kubectl):
        sys.stdout.write(f"{program}\n")


def _run(progress: Progress) -> None:
    # A terminated run stops as an interrupted one does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ControlPlane(find_or_build(progress)) as plane:
        progress(f"up at {plane.url}; Ctrl-C ends it. To speak to it:")
        sys.stdout.write(f"export KUBECONFIG={plane.kubeconfig}\n")
        sys.stdout.flush()
        try:
            signal.pause()
        except KeyboardInterrupt:
            progress("stopping")


if __name__ == "__main__":
    sys.exit(main())
