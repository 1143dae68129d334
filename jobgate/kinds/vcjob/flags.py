"""The plugins that Volcano has, and the flags that each takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jobgate.plugins.flags import Flags, FlagType

PLUGINS: Final[Mapping[str, Flags]] = {
    "ssh": {
        "ssh-key-file-path": FlagType.TEXT,
        "ssh-private-key": FlagType.TEXT,
        "ssh-public-key": FlagType.TEXT,
        "ssh-port": FlagType.PORT,
    },
    "env": {},
    "svc": {
        "publish-not-ready-addresses": FlagType.SWITCH,
        "disable-network-policy": FlagType.SWITCH,
        "inject-hosts-env": FlagType.SWITCH,
    },
    "tensorflow": {
        "ps": FlagType.TEXT,
        "worker": FlagType.TEXT,
        "chief": FlagType.TEXT,
        "evaluator": FlagType.TEXT,
        "port": FlagType.PORT,
    },
    "mpi": {"master": FlagType.TEXT, "worker": FlagType.TEXT, "port": FlagType.PORT},
    "pytorch": {
        "master": FlagType.TEXT,
        "worker": FlagType.TEXT,
        "port": FlagType.PORT,
        "wait-master-enabled": FlagType.SWITCH,
        "wait-master-timeout": FlagType.SECONDS,
        "wait-master-image": FlagType.TEXT,
    },
    "hcclrank": {"master": FlagType.TEXT, "worker": FlagType.TEXT},
    "ray": {
        "head": FlagType.TEXT,
        "worker": FlagType.TEXT,
        "headContainer": FlagType.TEXT,
        "workerContainer": FlagType.TEXT,
        "port": FlagType.PORT,
        "dashboardPort": FlagType.PORT,
        "clientPort": FlagType.PORT,
    },
}
