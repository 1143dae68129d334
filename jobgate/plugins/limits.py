"""Limits of what plugins put into pods, and the reason for each limit."""

from __future__ import annotations

from typing import Final

#: Maximum size of an environment variable in bytes: its name, `=`, its value and a NUL. Linux passes no longer text to
#: a new process (`MAX_ARG_STRLEN`: 32 pages of 4 KiB) and reports "argument list too long".
VARIABLE_LIMIT: Final = 128 * 1024

#: Maximum size of a plugin's variables in the environment of a container, in bytes. Linux accepts 2 MiB of variables
#: and arguments with its default stack limit of 8 MiB; the rest is left to the job, and to images that allow less.
ENVIRONMENT_LIMIT: Final = 512 * 1024

#: Maximum size of what a plugin puts into one pod, in bytes of JSON. etcd accepts objects of 1.5 MiB; managed fields
#: and the operator, which adds lists of the same length, need the rest.
POD_LIMIT: Final = 512 * 1024

#: Maximum size of all keys and values of a ConfigMap or Secret, in bytes. The API server counts only values against
#: its limit (`MaxSecretSize`), but keys are stored too, and managed fields repeat them.
CONFIG_LIMIT: Final = 1024 * 1024

#: Maximum number of pods for which names are computed; Kubernetes supports no larger clusters
#: (kubernetes.io, "Considerations for large clusters").
MOST_PODS: Final = 150_000
