"""What belongs to jobgate in a cluster, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

#: Label of all objects that our controller creates. Objects without it are never changed.
MANAGED_BY: Final = ("app.kubernetes.io/managed-by", "jobgate")

#: Namespaces that jobgate leaves alone: the cluster must be able to recover without it.
SYSTEM_NAMESPACES: Final = ("kube-system", "kube-public", "kube-node-lease")

#: A namespace with this label set to `disabled` is left alone, by the webhooks and by the controller.
OPT_OUT_LABEL: Final = "jobgate.dev/admission"
OPT_OUT_VALUE: Final = "disabled"

#: Labels of all objects of an installation: its name, and its namespace. What its controllers create has the second.
NAME_LABEL: Final = "app.kubernetes.io/instance"
HOME_LABEL: Final = "jobgate.dev/installation-namespace"

#: Annotations of a webhook configuration of `jobgate dev`: until when it is in use without a renewal, and its session.
DEV_UNTIL: Final = "jobgate.dev/dev-until"
DEV_HOLDER: Final = "jobgate.dev/dev-holder"


def created_by(home: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with the label of the installation in a namespace; unchanged without a namespace."""
    labels = {**manifest["metadata"].get("labels", {}), HOME_LABEL: home}
    return {**manifest, "metadata": {**manifest["metadata"], "labels": labels}} if home else dict(manifest)
