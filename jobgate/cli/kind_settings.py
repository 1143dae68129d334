"""`--kind-settings PLURAL.GROUP=FILE`."""

from __future__ import annotations

from pathlib import Path

import click
from pydantic import BaseModel

from jobgate.kinds import installed
from jobgate.serving.kind_settings import KindFile


def kind_files(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[KindFile, ...]:
    """Parse values of the form `PLURAL.GROUP=FILE`."""
    files: dict[str, KindFile] = {}
    for value in values:
        plural, equals, path = value.partition("=")
        if not equals or not path:
            raise click.BadParameter(f"{value!r} must be PLURAL.GROUP=FILE, {_example()}")
        if plural in files:
            raise click.BadParameter(f"{plural} is repeated: a kind has only one file")
        files[plural] = KindFile(plural, _model(plural), Path(path))
    return tuple(files.values())


def _model(plural: str) -> type[BaseModel]:
    kinds = [kind for kind in installed() if kind.qualified_plural == plural]
    if not kinds:
        raise click.BadParameter(f"{plural!r} is not a kind of this installation; {_choice()}")
    model = next((kind.settings for kind in kinds if kind.settings is not None), None)
    if model is None:
        raise click.BadParameter(f"{plural} has no settings; {_choice()}")
    return model


def _with_settings() -> list[str]:
    return sorted({kind.qualified_plural for kind in installed() if kind.settings is not None})


def _choice() -> str:
    plurals = _with_settings()
    return f"kinds with settings: {', '.join(plurals)}" if plurals else "no kind of this installation has settings"


def _example() -> str:
    plurals = _with_settings()
    return f"for example {plurals[0]}=/etc/jobgate/settings.yaml" if plurals else _choice()
