"""What an installation says of single kinds: a YAML file a kind, read into the model that the kind declares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click
import yaml
from pydantic import BaseModel, ValidationError

from jobgate.kinds import installed
from webhook import Kind


class Unfit(Exception):
    """A file does not hold the settings of its kind; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class KindFile:
    """The file of one kind's settings.

    Attributes:
        plural: the kind, as `<plural>.<group>`.
        model: what the kind's settings are.
        path: of the file.
    """

    plural: str
    model: type[BaseModel]
    path: Path

    def content(self) -> bytes:
        """Return what the file holds.

        Raises:
            Unfit: it cannot be read.
        """
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise Unfit(f"{self.path} cannot be read: {error.strerror or error}") from None

    def parse(self, content: bytes) -> BaseModel:
        """Return the settings that a content of the file says; an empty one says nothing.

        Raises:
            Unfit: it is no YAML, or not of the kind's model.
        """
        try:
            found = yaml.safe_load(content.decode())
            return self.model.model_validate({} if found is None else found)
        except ValidationError as error:
            # Without the values: an environment variable among them may be a secret.
            faults = "; ".join(
                f"{_path(one['loc'])}{_message(one['msg'])}" for one in error.errors(include_input=False)
            )
            raise Unfit(f"{self.path} does not fit {self.plural}: {faults}") from None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark
            place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
            raise Unfit(f"{self.path} is no YAML: {place}{error.problem}") from None
        except RecursionError:
            raise Unfit(f"{self.path} is nested too deeply") from None
        except (ValueError, yaml.YAMLError):
            raise Unfit(f"{self.path} is no YAML in UTF-8") from None

    def read(self) -> BaseModel:
        """Return the settings that the file says now.

        Raises:
            Unfit: it says none.
        """
        return self.parse(self.content())


def kind_files(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[KindFile, ...]:
    """Take `PLURAL.GROUP=FILE`, each for another kind.

    Raises:
        click.BadParameter: one is no such thing, or its kind has no settings.
    """
    files: dict[str, KindFile] = {}
    for value in values:
        plural, equals, path = value.partition("=")
        if not equals or not path:
            raise click.BadParameter(f"{value!r} must be PLURAL.GROUP=FILE, {_example()}")
        if plural in files:
            raise click.BadParameter(f"{plural} is given twice: a kind has one file")
        files[plural] = KindFile(plural, _model(plural), Path(path))
    return tuple(files.values())


def _model(plural: str) -> type[BaseModel]:
    kinds = [kind for kind in installed() if kind.qualified_plural == plural]
    if not kinds:
        raise click.BadParameter(f"{plural!r} is no kind of this installation; {_choice()}")
    model = next((kind.settings for kind in kinds if kind.settings is not None), None)
    if model is None:
        raise click.BadParameter(f"{plural} has no settings; {_choice()}")
    return model


def _with_settings() -> list[str]:
    kinds: list[Kind] = [kind for kind in installed() if kind.settings is not None]
    return sorted({kind.qualified_plural for kind in kinds})


def _choice() -> str:
    plurals = _with_settings()
    return f"kinds with settings: {', '.join(plurals)}" if plurals else "no kind of this installation has settings"


def _example() -> str:
    plurals = _with_settings()
    return f"as {plurals[0]}=/etc/jobgate/settings.yaml" if plurals else "and no kind of this installation has settings"


def _path(location: tuple[int | str, ...]) -> str:
    """Return a place in the file as people write it, with keys that hold dots in brackets."""
    path = ""
    for part in location:
        if isinstance(part, int) or not part.replace("_", "").replace("-", "").isalnum():
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return f"{path}: " if path else ""


def _message(text: str) -> str:
    return text.removeprefix("Value error, ")
