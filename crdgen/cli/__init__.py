"""The command line, `python -m crdgen`: one file per command, with its help, arguments and implementation.

Exit status: 0 for success; 1 for a negative result (rejected, breaking, out of date, too large); 2 for unusable input.
Errors go to standard error, one per line.
"""

import io
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Final, NoReturn

from crdgen.__main__ import written
from crdgen.cli.sources import UsageError
from crdgen.generate.errors import SchemaError

__all__ = ["main"]

#: Each command with its summary and module. A module is imported only when its command runs.
_COMMANDS: Final = {
    "generate": ("generate the CRD of a Pydantic model", "crdgen.cli.generate"),
    "lint": ("report what the API server rejects in CRDs", "crdgen.cli.lint"),
    "size": ("measure CRDs and suggest how to make them smaller", "crdgen.cli.size"),
    "diff": ("compare CRDs and report breaking changes", "crdgen.cli.diff"),
    "docs": ("generate a Markdown reference page", "crdgen.cli.docs"),
    "schema": ("write JSON Schemas for editors", "crdgen.cli.schema"),
    "check": ("check that generated files are up to date", "crdgen.cli.check"),
    "eval": ("validate objects against a CRD", "crdgen.cli.evaluate"),
    "test": ("run test cases of CRDs and policies", "crdgen.cli.cases"),
}


def main(argv: Sequence[str], program: str = "crdgen") -> int:
    """Run a command line without the program's name, and return the exit status; never raises."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        status = _run(list(argv), program)
        return written(status, program)
    except OSError as error:
        return written(2, program, error)
    except KeyboardInterrupt:
        return written(130, program)


def _run(argv: list[str], program: str) -> int:
    if not argv or argv[0] in {"-h", "--help"}:
        sys.stdout.write(_help(program))
        return 0 if argv else 2
    if argv[0] not in _COMMANDS:
        return _fail(program, f"unknown command {argv[0]!r}: must be one of {', '.join(_COMMANDS)}")
    command = import_module(_COMMANDS[argv[0]][1])
    name = f"{program} {argv[0]}"
    try:
        return int(command.run(_parser(command, name, program).parse_args(argv[1:])))
    except SystemExit as stop:  # argparse's, after --help or a wrong argument
        return stop.code if isinstance(stop.code, int) else 2
    except (UsageError, SchemaError) as error:
        errors = error.errors if isinstance(error, SchemaError) else (error,)
        return max(_fail(name, line) for each in errors for line in str(each).splitlines())
    except Exception as error:  # noqa: BLE001 - users get one line to report, not a traceback
        return _unexpected(name, error)


class _Parser(ArgumentParser):
    """A parser that reports errors in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the error and exit with status 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _parser(command: ModuleType, name: str, program: str) -> ArgumentParser:
    """Return the parser of a command's arguments."""
    parser = _Parser(
        prog=name,
        description=command.ABOUT,
        epilog="examples:\n" + command.EXAMPLES.strip("\n").replace("crdgen ", f"{program} "),
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.arguments(parser)
    return parser


def _unexpected(program: str, error: Exception) -> int:
    if isinstance(error, OSError):
        with suppress(OSError):  # it is not of the output
            return written(2, program, error)
    return _fail(program, f"internal error: {type(error).__name__}: {' '.join(str(error).split())}")


def _fail(program: str, message: str) -> int:
    sys.stderr.write(f"{program}: {message}\n")
    return 2


def _help(program: str) -> str:
    commands = "\n".join(f"  {name:<10}{summary}" for name, (summary, _) in _COMMANDS.items())
    about = "Generate, lint, compare and document CustomResourceDefinitions (CRDs)."
    more = f"Run {program} COMMAND --help for details and examples."
    return f"usage: {program} COMMAND …\n\n{about}\n\n{commands}\n\n{more}\n"
