"""The plugins that Volcano has, and the flags that each takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jobgate.plugins.flags import Flag, Flags, FlagType

_TEXT, _SWITCH, _PORT, _SECONDS = (
    Flag(type_, type_.value) for type_ in (FlagType.TEXT, FlagType.SWITCH, FlagType.PORT, FlagType.SECONDS)
)


def _flags(flag: Flag, *names: str) -> Flags:
    return dict.fromkeys(names, flag)


PLUGINS: Final[Mapping[str, Flags]] = {
    "ssh": {**_flags(_TEXT, "ssh-key-file-path", "ssh-private-key", "ssh-public-key"), "ssh-port": _PORT},
    "env": {},
    "svc": _flags(_SWITCH, "publish-not-ready-addresses", "disable-network-policy", "inject-hosts-env"),
    "tensorflow": {**_flags(_TEXT, "ps", "worker", "chief", "evaluator"), "port": _PORT},
    "mpi": {"master": _TEXT, "worker": _TEXT, "port": _PORT},
    "pytorch": {
        "master": _TEXT,
        "worker": _TEXT,
        "port": _PORT,
        "wait-master-enabled": _SWITCH,
        "wait-master-timeout": _SECONDS,
        "wait-master-image": _TEXT,
    },
    "hcclrank": {"master": _TEXT, "worker": _TEXT},
    "ray": {
        **_flags(_TEXT, "head", "worker", "headContainer", "workerContainer"),
        **_flags(_PORT, "port", "dashboardPort", "clientPort"),
    },
}
