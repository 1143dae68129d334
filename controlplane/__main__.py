"""`python -m controlplane build | run | lock`."""

import argparse
import signal
import sys
from dataclasses import asdict

from controlplane.assets import find_or_build, find_or_build_whole
from controlplane.lock import lock
from controlplane.plane import ControlPlane, ControlPlaneError
from controlplane.progress import Progress, Terminal
from controlplane.run import BuildError
from controlplane.whole import WholeControlPlane


def main(argv: list[str] | None = None) -> int:
    """Run the command, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m controlplane", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="build the programs that are not in the cache")
    run = commands.add_parser("run", help="start a control plane and keep it until Ctrl-C")
    run.add_argument("--whole", action="store_true", help="with controllers, a scheduler and simulated nodes")
    commands.add_parser("lock", help="write go.mod and go.sum of each source for the versions in versions.py")
    arguments = parser.parse_args(argv)
    command = arguments.command
    progress = Terminal()
    try:
        if command == "build":
            _build(progress)
        elif command == "run":
            _run(progress, whole=arguments.whole)
        else:
            lock(progress)
    except (BuildError, ControlPlaneError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _build(progress: Progress) -> None:
    for program in asdict(find_or_build_whole(progress)).values():
        sys.stdout.write(f"{program}\n")


def _run(progress: Progress, *, whole: bool) -> None:
    # SIGTERM stops like Ctrl-C. A shell starts background processes with SIGINT ignored, so both handlers are set.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.default_int_handler)
    control_plane = WholeControlPlane(find_or_build_whole(progress)) if whole else ControlPlane(find_or_build(progress))
    with control_plane as plane:
        # Blocked before `sigwait`, so that a signal in between is not lost (`signal.pause` would lose it).
        ends = {signal.SIGTERM, signal.SIGINT}
        signal.pthread_sigmask(signal.SIG_BLOCK, ends)
        progress(f"up at {plane.url}; Ctrl-C ends it. To speak to it:")
        sys.stdout.write(f"export KUBECONFIG={plane.kubeconfig}\n")
        sys.stdout.flush()
        signal.sigwait(ends)
        progress("stopping")


if __name__ == "__main__":
    sys.exit(main())
