"""What a command is."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn


class Unusable(Exception):
    """An input that cannot be used: where, what is wrong, what would be right; one line."""


class Parser(ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end with status 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


@dataclass(frozen=True)
class Command:
    """A command of the program.

    Attributes:
        about: what it does, with exit statuses.
        examples: command lines, where `crdgen` stands for the program, each with what it does behind a `#`.
        arguments: adds the arguments to a parser.
        run: carries it out, and returns the exit status.
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
