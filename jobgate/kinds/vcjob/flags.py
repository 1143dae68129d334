"""The plugins that Volcano has, and the flags that each takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jobgate.plugins.flags import Flags, FlagType


def _flags(type_: FlagType, *names: str) -> Flags:
    return dict.fromkeys(names, type_)


_TEXT, _SWITCH, _PORT = FlagType.TEXT, FlagType.SWITCH, FlagType.PORT

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
        "wait-master-timeout": FlagType.SECONDS,
        "wait-master-image": _TEXT,
    },
    "hcclrank": {"master": _TEXT, "worker": _TEXT},
    "ray": {
        **_flags(_TEXT, "head", "worker", "headContainer", "workerContainer"),
        **_flags(_PORT, "port", "dashboardPort", "clientPort"),
    },
}
