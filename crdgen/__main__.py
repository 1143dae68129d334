"""`python -m crdgen`: the command line. It needs only pydantic, msgspec and PyYAML."""

import atexit
import errno
import gc
import os
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

#: Errors of a write: the output is closed, too large, or a broken pipe or disk.
_OF_OUTPUT: Final = {errno.EBADF, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC, errno.EPIPE}


def collect_rarely() -> None:
    """Collect garbage only after many objects, and not at the end: it is a third of the time of a short command."""
    gc.set_threshold(500_000)  # four times what loading takes
    atexit.register(gc.freeze)


def main(argv: Sequence[str], program: str = "python -m crdgen") -> int:
    """Run a command line, and return the exit status."""
    open_streams()
    collect_rarely()
    from crdgen.cli import main as run  # noqa: PLC0415 - loads faster without garbage collection

    return run(argv, program)


def open_streams() -> None:
    """Open standard output and error if the caller closed them: as a file that cannot be written, and as a sink."""
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def written(status: int, program: str, error: OSError | None = None) -> int:
    """Write what is left of the output, and return the exit status.

    That is 1 if the reader has closed the pipe, as `head` does, and 2 with a message if the output cannot be written.

    Args:
        status: the exit status if it can.
        program: the program, for the message.
        error: the error by which the command ended; it is raised again if it is not of the output.
    """
    if error is not None and (error.filename is not None or error.errno not in _OF_OUTPUT):
        raise error
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as failure:
        error = failure
    if error is None:
        return status
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, sys.stdout.fileno())  # the flush at exit must not fail again
    if isinstance(error, BrokenPipeError):
        return 1
    try:
        sys.stderr.write(f"{program}: the output cannot be written: {error.strerror}\n")
        sys.stderr.flush()
    except OSError:
        os.dup2(sink, sys.stderr.fileno())
    return 2


def end(status: int) -> NoReturn:
    """End the process, without freeing each of its objects: that is a twentieth of the time of a short command."""
    os._exit(status)


def command() -> NoReturn:
    """Run the command `crdgen`."""
    end(main(sys.argv[1:], "crdgen"))


if __name__ == "__main__":
    end(main(sys.argv[1:]))
