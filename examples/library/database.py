"""The admission webhook of a kind Database: `python -m examples.library.database CERTIFICATE KEY [PORTS]`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from webhook import Cause, Context, Draft, Forbidden, Kind, Object, Registry, Settings, rule
from webhook.server import Endpoint, Files, serve_files

ADMINISTRATORS = {"postgres": "postgres", "mysql": "root"}


class DatabaseSpec(BaseModel):
    """The spec of a Database."""

    engine: Literal["postgres", "mysql"]
    storage: str
    users: list[str] = []


def storage_is_small(database: Draft, _: Context[Settings]) -> None:
    """A database gets 10 GiB if it requests nothing."""
    if (spec := database.at("spec")) is not None:
        spec.setdefault("storage", "10Gi")


@rule("users")
def users_are_not_administrators(database: Object[DatabaseSpec], _: Context[Settings]) -> Iterator[Cause]:
    """The operator of the databases connects as the administrator of the engine."""
    for path, user in database.each("users"):
        if user == ADMINISTRATORS[database.spec.engine]:
            yield Forbidden(path, f"the administrator of {database.spec.engine} belongs to the operator", user)


DATABASE = Kind(
    group="example.com",
    version="v1",
    kind="Database",
    plural="databases",
    spec=DatabaseSpec,
    defaults=(storage_is_small,),
    rules=(users_are_not_administrators,),
)

if __name__ == "__main__":
    serve_files(Endpoint(Registry([DATABASE]), Settings()), Files(*map(Path, sys.argv[1:3])), *map(int, sys.argv[3:]))
