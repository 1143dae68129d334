"""What belongs to jobgate in a cluster, and what it leaves alone."""

from __future__ import annotations

from typing import Final

#: Label of all objects that our controller creates. Objects without it are never changed.
MANAGED_BY: Final = ("app.kubernetes.io/managed-by", "jobgate")

#: Namespaces that jobgate leaves alone: the cluster must be able to recover without it.
SYSTEM_NAMESPACES: Final = ("kube-system", "kube-public", "kube-node-lease")

#: A namespace with this label set to `disabled` is left alone, by the webhooks and by the controller.
OPT_OUT_LABEL: Final = "jobgate.dev/admission"
OPT_OUT_VALUE: Final = "disabled"
