"""Settings of a kind: a YAML file, read into the model that the kind declares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import BaseModel, ValidationError

from webhook.path import join


class InvalidSettings(ValueError):
    """A file does not contain valid settings of its kind."""


@dataclass(frozen=True, slots=True)
class KindFile:
    """The settings file of a kind (`<plural>.<group>`), with the model of the settings."""

    plural: str
    model: type[BaseModel]
    path: Path

    def content(self) -> bytes:
        """Return the content of the file."""
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise InvalidSettings(f"{self.path} cannot be read: {error.strerror or error}") from None

    def parse(self, content: bytes) -> BaseModel:
        """Return the settings in a content of the file; an empty file sets nothing."""
        try:
            found = yaml.safe_load(content.decode())
            return self.model.model_validate({} if found is None else found)
        except ValidationError as error:
            raise InvalidSettings(f"{self.path} is not valid for {self.plural}: {faults_of(error)}") from None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark
            place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
            raise InvalidSettings(f"{self.path} is not valid YAML: {place}{error.problem}") from None
        except RecursionError:
            raise InvalidSettings(f"{self.path} is nested too deeply") from None
        except (ValueError, yaml.YAMLError):
            raise InvalidSettings(f"{self.path} is not valid YAML in UTF-8") from None

    def read(self) -> BaseModel:
        """Return the settings in the file."""
        return self.parse(self.content())


def faults_of(error: ValidationError) -> str:
    """Return the faults of an object, each with its path, without the values: one of them may be a secret."""
    found = ((join(one["loc"]), one["msg"].removeprefix("Value error, ")) for one in error.errors(include_input=False))
    return "; ".join(f"{path}: {message}" if path else message for path, message in found)
