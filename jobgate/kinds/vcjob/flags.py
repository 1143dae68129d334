"""Volcano's plugins, and their flags with Volcano's defaults."""

from collections.abc import Mapping
from typing import Annotated, Final, TypeAlias

from pydantic import BeforeValidator, Field

from jobgate.plugins import Arguments, Takes, parse
from jobgate.plugins.arguments import NoArguments
from jobgate.plugins.svc import SvcArguments
from webhook import Path


def _number(written: str) -> int:
    """Parse a number like Go: it may begin with `0x` or, in base eight, with `0`."""
    if not written.isascii() or written.strip() != written:
        raise ValueError("no number to Go")
    try:
        return int(written, 0)
    except ValueError:
        return int(written, 8)


_Port: TypeAlias = Annotated[
    int, BeforeValidator(_number), Field(ge=1, le=65535), Takes("a port number between 1 and 65535")
]
_Seconds: TypeAlias = Annotated[
    int, BeforeValidator(_number), Field(ge=-(2**63), lt=2**63), Takes("an integer number of seconds")
]


class _Ssh(Arguments):
    ssh_key_file_path: str = ""
    ssh_private_key: str = ""
    ssh_public_key: str = ""
    ssh_port: _Port = 22


class _TensorFlow(Arguments):
    ps: str = "ps"
    worker: str = "worker"
    chief: str = "chief"
    evaluator: str = "evaluator"
    port: _Port = 2222


class _Mpi(Arguments):
    master: str = "master"
    worker: str = "worker"
    port: _Port = 22


class _PyTorch(Arguments):
    master: str = "master"
    worker: str = "worker"
    port: _Port = 23456
    wait_master_enabled: bool = False
    wait_master_timeout: _Seconds = 300
    wait_master_image: str = "busybox:1.36.1"


class _HcclRank(Arguments):
    master: str = "master"
    worker: str = "worker"


class _Ray(Arguments):
    head: str = "head"
    worker: str = "worker"
    head_container: Annotated[str, Field(alias="headContainer")] = "head"
    worker_container: Annotated[str, Field(alias="workerContainer")] = "worker"
    port: _Port = 6379
    dashboard_port: Annotated[_Port, Field(alias="dashboardPort")] = 8265
    client_port: Annotated[_Port, Field(alias="clientPort")] = 10001


PLUGINS: Final[Mapping[str, type[Arguments]]] = {
    "ssh": _Ssh,
    "env": NoArguments,
    "svc": SvcArguments,
    "tensorflow": _TensorFlow,
    "mpi": _Mpi,
    "pytorch": _PyTorch,
    "hcclrank": _HcclRank,
    "ray": _Ray,
}


def flags_of(plugin: str, written: list[str]) -> dict[str, str]:
    """Return the flags of a plugin by name, as Volcano reads them: with its defaults, up to the first fault."""
    arguments, causes = parse(PLUGINS[plugin], plugin, written, Path())
    if arguments is None:
        return flags_of(plugin, written[: min(int(cause.path.steps[0]) for cause in causes)])
    return {flag: str(value) for flag, value in arguments.model_dump(by_alias=True).items()}
