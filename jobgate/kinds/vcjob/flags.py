"""The plugins that Volcano has, and the flags that each takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jobgate.plugins.flags import Flag, Flags, FlagType


def _flag(type_: FlagType, default: str | int = "") -> Flag:
    return Flag(type_, type_.value, default=str(default))


def _named(*names: str) -> Flags:
    """Return flags that say what something is called, which by default is the flag's own name."""
    return {name: _flag(FlagType.TEXT, name) for name in names}


_TEXT, _SWITCH = _flag(FlagType.TEXT), _flag(FlagType.SWITCH)

#: With Volcano's defaults, where jobgate needs them. The plugins that ours carry out have them in their arguments.
PLUGINS: Final[Mapping[str, Flags]] = {
    "ssh": {
        **dict.fromkeys(("ssh-key-file-path", "ssh-private-key", "ssh-public-key"), _TEXT),
        "ssh-port": _flag(FlagType.PORT),
    },
    "env": {},
    "svc": dict.fromkeys(("publish-not-ready-addresses", "disable-network-policy", "inject-hosts-env"), _SWITCH),
    "tensorflow": {**_named("ps", "worker", "chief", "evaluator"), "port": _flag(FlagType.PORT, 2222)},
    "mpi": {**_named("master", "worker"), "port": _flag(FlagType.PORT, 22)},
    "pytorch": {
        **_named("master", "worker"),
        "port": _flag(FlagType.PORT, 23456),
        "wait-master-enabled": _flag(FlagType.SWITCH, "false"),
        "wait-master-timeout": _flag(FlagType.SECONDS, 300),
        "wait-master-image": _flag(FlagType.TEXT, "busybox:1.36.1"),
    },
    "hcclrank": _named("master", "worker"),
    "ray": {
        **_named("head", "worker"),
        "headContainer": _flag(FlagType.TEXT, "head"),
        "workerContainer": _flag(FlagType.TEXT, "worker"),
        "port": _flag(FlagType.PORT, 6379),
        "dashboardPort": _flag(FlagType.PORT, 8265),
        "clientPort": _flag(FlagType.PORT, 10001),
    },
}
