"""How much can be put into a pod, and where each limit comes from."""

from __future__ import annotations

from typing import Final

#: Longest environment variable that a container is started with, in bytes: its name, `=`, its value and a NUL. Linux
#: takes no longer text into a new process (`MAX_ARG_STRLEN`: 32 pages of 4 KiB), and says "argument list too long".
VARIABLE_LIMIT: Final = 128 * 1024

#: Most that a plugin puts into the environment of a container, in bytes. Linux takes 2 MiB of variables and arguments
#: in all where the stack may be 8 MiB, as it may by default: the rest is left to the job, and to
#: images that allow less.
ENVIRONMENT_LIMIT: Final = 512 * 1024

#: Most that a plugin puts into one pod, in bytes of JSON. etcd takes objects of 1.5 MiB, and the operator, who writes
#: lists of the same length, and the managed fields want their part of it.
POD_LIMIT: Final = 512 * 1024

#: Most that the keys and values of a ConfigMap, or of a Secret, may have in all, in bytes. The API server counts values
#: alone against it (`MaxSecretSize`), but the keys of a thousand tasks, which managed fields repeat, are stored too.
CONFIG_LIMIT: Final = 1024 * 1024

#: Most pods whose names are computed: a cluster has no more
#: (kubernetes.io, "Considerations for large clusters").
MOST_PODS: Final = 150_000
