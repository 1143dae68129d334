"""The commands of the program."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn


class UsageError(Exception):
    """Input that cannot be used. The message is one line: where, what is wrong, what would be right."""


class Parser(ArgumentParser):
    """A parser that reports errors in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the error and exit with status 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


@dataclass(frozen=True)
class Command:
    """A command of the program.

    Attributes:
        about: description, with exit statuses.
        examples: command lines, each with a comment; `crdgen` is replaced with the program name.
        arguments: adds the arguments to a parser.
        run: runs the command and returns the exit status.
    """

    about: str
    examples: str
    arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]

    def parser(self, name: str) -> ArgumentParser:
        """Return the parser of the command's arguments."""
        program = name.rpartition(" ")[0]
        parser = Parser(
            prog=name,
            description=self.about,
            epilog="examples:\n" + self.examples.strip("\n").replace("crdgen ", f"{program} "),
            formatter_class=RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.arguments(parser)
        return parser
