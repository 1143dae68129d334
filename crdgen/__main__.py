"""`python -m crdgen`: the command line. It needs only pydantic, msgspec and PyYAML."""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn


def collect_rarely() -> None:
    """Collect garbage only after many objects, and not at the end: it is a third of the time of a short command."""
    gc.set_threshold(500_000)  # four times what loading takes
    atexit.register(gc.freeze)


def main(argv: Sequence[str], program: str = "python -m crdgen") -> int:
    """Run a command line, and return the exit status."""
    collect_rarely()
    from crdgen.cli import main as run  # noqa: PLC0415 - loads faster without garbage collection

    return run(argv, program)


def end(status: int) -> NoReturn:
    """End the process, without freeing each of its objects: that is a twentieth of the time of a short command."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # not open, or the disk is full: the usual end reports it
        sys.exit(status)
    os._exit(status)


def command() -> NoReturn:
    """Run the command `crdgen`."""
    end(main(sys.argv[1:], "crdgen"))


if __name__ == "__main__":
    end(main(sys.argv[1:]))
