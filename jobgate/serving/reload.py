"""Files that are read again when they change: the kubelet updates a mounted ConfigMap within a minute.

The settings of a kind are a YAML file. The kind declares their model.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from msgspec.structs import replace
from pydantic import BaseModel, ValidationError

from crdgen.reading import UnreadableManifest, read_value
from jobgate.jobs.context import Settings
from webhook.path import join

#: Seconds between two checks of a file.
POLL_INTERVAL = 2.0

T = TypeVar("T")
_logger = logging.getLogger("jobgate")


@dataclass
class FileReloader(Generic[T]):
    """Reads a file again when it changes.

    Invalid content is logged once, and the last valid content stays in use: a mistake in a ConfigMap must not stop a
    server.

    Attributes:
        path: the file.
        parse: parses the content, and raises ValueError if it is invalid. Runs in a thread.
        use: called with the parsed content, if it is not `current`.
        what: the name of the content in the log.
        current: the parsed content that is in use.
        fields: fields of the log.
    """

    path: Path
    parse: Callable[[bytes], T]
    use: Callable[[T], None]
    what: str
    current: T | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    _content: bytes | None = field(default=b"", init=False)

    async def run(self) -> None:
        """Check the file every few seconds, until cancelled."""
        while True:
            await self.check()
            await asyncio.sleep(POLL_INTERVAL)

    async def check(self) -> None:
        """Use the content of the file, if it is new."""
        parsed = await asyncio.to_thread(self._read)
        if parsed is not None and parsed != self.current:
            self.current = parsed
            self.use(parsed)
            _logger.info("%s reloaded", self.what, extra={"fields": {**self.fields, "file": str(self.path)}})

    def _read(self) -> T | None:
        """Return the parsed content, or None if it has not changed or is invalid."""
        content, fault = None, ""
        try:
            content = self.path.read_bytes()
        except OSError as error:
            fault = f"{self.path} cannot be read: {error.strerror or error}"
        if content == self._content:
            return None
        self._content = content
        if content is not None:
            try:
                return self.parse(content)
            except ValueError as error:
                fault = str(error)
        _logger.error(
            "invalid %s ignored", self.what, extra={"fields": {**self.fields, "file": str(self.path), "reason": fault}}
        )
        return None


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
        """Parse a content of the file; an empty file sets nothing."""
        try:
            value = read_value(content, str(self.path))
            return self.model.model_validate({} if value is None else value)
        except ValidationError as error:
            raise InvalidSettings(f"{self.path} is not valid for {self.plural}: {faults_of(error)}") from None
        except UnreadableManifest as error:
            raise InvalidSettings(str(error)) from None

    def read(self) -> BaseModel:
        """Return the settings in the file."""
        return self.parse(self.content())


def faults_of(error: ValidationError) -> str:
    """Return the faults of an object, each with its path, without values, which may be secret."""
    faults = (
        (join(fault["loc"]), fault["msg"].removeprefix("Value error, ")) for fault in error.errors(include_input=False)
    )
    return "; ".join(f"{path}: {message}" if path else message for path, message in faults)


class HasSettings(Protocol):
    """A server whose settings can be replaced between two reviews."""

    settings: Settings


def settings_reloaders(server: HasSettings, files: Iterable[KindFile]) -> list[FileReloader[BaseModel]]:
    """Return reloaders that update the settings of a server when the settings files of kinds change."""

    def use(plural: str, settings: BaseModel) -> None:
        server.settings = replace(server.settings, kinds={**server.settings.kinds, plural: settings})

    kinds = server.settings.kinds
    return [
        FileReloader(
            file.path, file.parse, partial(use, file.plural), "settings", kinds.get(file.plural), {"kind": file.plural}
        )
        for file in files
    ]
