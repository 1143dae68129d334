"""The command line: `python -m crdgen`. One file a command; each says its arguments, calls the library and prints.

Exit status: 0 where all is well, 1 where what was asked is answered with no (refused, breaking, out of date, too
large), 2 where the question makes no sense. What is wrong is told on standard error, a line for each fault.
"""

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from crdgen.cli.command import Command, Unusable
from crdgen.generate.errors import SchemaError

__all__ = ["main"]

#: Each command, what it does, and where it is; a file is imported when its command is called.
_COMMANDS: Final = {
    "generate": ("the CRD of a Pydantic model, as YAML", "crdgen.cli.generate"),
    "lint": ("what the API server would say of CRDs", "crdgen.cli.lint"),
    "size": ("how many bytes a CRD has, where, and what would shrink it", "crdgen.cli.size"),
    "diff": ("what changes between two CRDs, and whom it breaks", "crdgen.cli.diff"),
    "docs": ("a Markdown page of a kind", "crdgen.cli.docs"),
    "check": ("whether generated files are up to date", "crdgen.cli.check"),
    "eval": ("what the API server would make of an object", "crdgen.cli.evaluate"),
}


def main(argv: Sequence[str], program: str = "crdgen") -> int:
    """Carry out a command line and return the exit status; nothing is raised.

    Args:
        argv: The arguments, without the program's name.
        program: What help and errors call the program.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        status = _run(list(argv), program)
        sys.stdout.flush()
    except BrokenPipeError:
        # Who reads has seen enough; what is still buffered must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except KeyboardInterrupt:
        return 130
    return status


def _run(argv: list[str], program: str) -> int:
    if not argv or argv[0] in {"-h", "--help"}:
        sys.stdout.write(_help(program))
        return 0 if argv else 2
    if argv[0] not in _COMMANDS:
        return _fail(program, f"no command {argv[0]!r}: there are {', '.join(_COMMANDS)}")
    command: Command = import_module(_COMMANDS[argv[0]][1]).COMMAND
    name = f"{program} {argv[0]}"
    try:
        return command.run(command.parser(name).parse_args(argv[1:]))
    except SystemExit as stop:  # argparse's, after --help or a wrong argument
        return stop.code if isinstance(stop.code, int) else 2
    except (Unusable, SchemaError) as error:
        faults = error.faults if isinstance(error, SchemaError) else (error,)
        return max(_fail(name, str(fault)) for fault in faults)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - nobody is helped by a traceback; the fault is named, to be reported
        return _fail(name, f"a fault of crdgen itself: {type(error).__name__}: {' '.join(str(error).split())}")


def _fail(program: str, message: str) -> int:
    sys.stderr.write(f"{program}: {message}\n")
    return 2


def _help(program: str) -> str:
    lines = [f"  {name:<10}{summary}" for name, (summary, _) in _COMMANDS.items()]
    return "\n".join(
        [
            f"usage: {program} COMMAND …",
            "",
            "CustomResourceDefinitions of Pydantic models, and of anybody: made, checked, compared, documented.",
            "",
            *lines,
            "",
            f"{program} COMMAND --help says more, with examples.",
            "",
        ]
    )
