"""The plugins that Volcano has, and the flags that each takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jobgate.plugins.flags import Flags, Sort

PLUGINS: Final[Mapping[str, Flags]] = {
    "ssh": {
        "ssh-key-file-path": Sort.TEXT,
        "ssh-private-key": Sort.TEXT,
        "ssh-public-key": Sort.TEXT,
        "ssh-port": Sort.PORT,
    },
    "env": {},
    "svc": {
        "publish-not-ready-addresses": Sort.SWITCH,
        "disable-network-policy": Sort.SWITCH,
        "inject-hosts-env": Sort.SWITCH,
    },
    "tensorflow": {
        "ps": Sort.TEXT,
        "worker": Sort.TEXT,
        "chief": Sort.TEXT,
        "evaluator": Sort.TEXT,
        "port": Sort.PORT,
    },
    "mpi": {"master": Sort.TEXT, "worker": Sort.TEXT, "port": Sort.PORT},
    "pytorch": {
        "master": Sort.TEXT,
        "worker": Sort.TEXT,
        "port": Sort.PORT,
        "wait-master-enabled": Sort.SWITCH,
        "wait-master-timeout": Sort.SECONDS,
        "wait-master-image": Sort.TEXT,
    },
    "hcclrank": {"master": Sort.TEXT, "worker": Sort.TEXT},
    "ray": {
        "head": Sort.TEXT,
        "worker": Sort.TEXT,
        "headContainer": Sort.TEXT,
        "workerContainer": Sort.TEXT,
        "port": Sort.PORT,
        "dashboardPort": Sort.PORT,
        "clientPort": Sort.PORT,
    },
}
