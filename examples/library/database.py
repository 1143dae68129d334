"""The admission webhook of a kind Database: `python -m examples.library.database CERTIFICATE KEY [PORTS]`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from webhook import Cause, Context, Draft, Forbidden, Kind, NotSupported, Object, Registry, Settings, rule
from webhook.server import Endpoint, Files, serve_files

VERSIONS = {"postgres": ["18", "17"], "mysql": ["9.4", "8.4"]}


class User(BaseModel):
    """A user of the database."""

    name: str


class DatabaseSpec(BaseModel):
    """The spec of a Database."""

    engine: Literal["postgres", "mysql"]
    version: str
    storage: str
    users: list[User] = []


def version_is_the_newest(database: Draft, _: Context[Settings]) -> None:
    """A database gets the newest version of its engine."""
    for engine, versions in VERSIONS.items():
        if (spec := database.at("spec")) is not None and spec.get("engine") == engine:
            spec.setdefault("version", versions[0])


@rule("version")
def version_fits_engine(database: Object[DatabaseSpec], _: Context[Settings]) -> Iterator[Cause]:
    """Each engine has its own versions."""
    versions = VERSIONS[database.spec.engine]
    if database.spec.version not in versions:
        yield NotSupported("spec.version", database.spec.version, versions)


@rule("users.name")
def users_are_not_reserved(database: Object[DatabaseSpec], _: Context[Settings]) -> Iterator[Cause]:
    """The operator connects as this user."""
    for path, user in database.each("users"):
        if user.name == "operator":
            yield Forbidden(path / "name", "the user operator is created by the operator", user.name)


DATABASE = Kind(
    group="example.com",
    version="v1",
    kind="Database",
    plural="databases",
    spec=DatabaseSpec,
    defaults=(version_is_the_newest,),
    rules=(version_fits_engine, users_are_not_reserved),
)

if __name__ == "__main__":
    certificate, key, *ports = sys.argv[1:]
    serve_files(Endpoint(Registry([DATABASE]), Settings()), Files(Path(certificate), Path(key)), *map(int, ports))
