"""Installs the rendered admission policies on a control plane, for some namespaces only."""

import json
from typing import Any

import yaml

from controlplane.plane import ControlPlane
from controlplane.webhook import InstalledWebhook, jobgate

#: The values of the label, for namespaces that only policies serve, for those that webhooks serve, too, and for those
#: with defaults alone.
ALONE, BOTH, DEFAULTS = "alone", "both", "defaults"
#: The label of these namespaces; the webhooks of other installations must not serve them.
LABEL = "jobgate-policies"


def install_policies(plane: ControlPlane, webhook: InstalledWebhook) -> None:
    """Install the policies of the built-in kinds, and webhooks that are called only for what policies leave.

    Where webhooks are called there are no rules, as with the failure policy Fail.
    """
    flags = [f"--ca-bundle={webhook.folder / 'ca.crt'}", f"--service-port={webhook.port}", "--external-name=localhost"]
    items = list[dict[str, Any]]()
    for item in _rendered("--failure-policy=Ignore", *flags):
        if item["metadata"]["name"].startswith("jobgate.") and "AdmissionPolicy" in item["kind"]:
            if "Binding" not in item["kind"]:
                values = [ALONE, BOTH, DEFAULTS] if item["kind"].startswith("Mutating") else [ALONE]
                selector: dict[str, Any] = {"matchExpressions": [{"key": LABEL, "operator": "In", "values": values}]}
                item["spec"]["matchConstraints"]["namespaceSelector"] = selector
            items.append(item)
    for item in _rendered(*flags):
        if "WebhookConfiguration" in item["kind"]:
            selector = {"matchLabels": {LABEL: BOTH}}
            entries = [{**entry, "namespaceSelector": selector} for entry in item["webhooks"]]
            items.append({**item, "metadata": {"name": "jobgate-policies"}, "webhooks": entries})
    plane.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


def _rendered(*flags: str) -> list[dict[str, Any]]:
    return [*yaml.load_all(jobgate("manifests", "--policies", *flags), yaml.CSafeLoader)]
