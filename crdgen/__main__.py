"""`python -m crdgen`: the command line. It needs only pydantic, msgspec and PyYAML."""

import atexit
import gc
import sys
from collections.abc import Sequence


def collect_rarely() -> None:
    """Collect garbage only after many objects, and not at the end: it is a third of the time of a short command."""
    gc.set_threshold(500_000)  # four times what loading takes
    atexit.register(gc.freeze)


def main(argv: Sequence[str], program: str = "python -m crdgen") -> int:
    """Run a command line, and return the exit status."""
    collect_rarely()
    from crdgen.cli import main as run  # noqa: PLC0415 - loads faster without garbage collection

    return run(argv, program)


def command() -> int:
    """Run the command `crdgen`."""
    return main(sys.argv[1:], "crdgen")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
