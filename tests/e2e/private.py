"""A jobgate of one namespace, beside the session's: with settings or kinds of its own, on the same API server."""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

from jobgate.kinds import BUILT_IN, ENTRY_POINT
from tests.controlplane.plane import ControlPlane
from tests.controlplane.webhook import InstalledWebhook, jobgate

#: A job that only the webhook refuses.
_PROBE = """
apiVersion: diengine.opendilab.org/v2alpha1
kind: DIJob
metadata: {name: probe}
spec:
  preemptible: true
  tasks: [{template: {spec: {containers: [{name: probe, image: probe}]}}}]
"""


class PrivateWebhook(InstalledWebhook):
    """A webhook server that the API server calls for one new namespace alone.

    The namespace has opted out of the session's jobgate, whose CRDs and Service it shares.

    Attributes:
        namespace: the namespace.
    """

    def __init__(self, plane: ControlPlane, folder: Path, settings: Sequence[str] = ()) -> None:
        super().__init__(plane, folder, settings)
        self.namespace = f"test-{secrets.token_hex(4)}"
        labels = {"jobgate.dev/admission": "disabled"}
        self._apply(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace, "labels": labels}},
        )

    def install(self) -> None:
        """Apply the webhook configurations, for our namespace only, and the CRDs that the session has not."""
        rendered = jobgate(
            "manifests",
            f"--ca-bundle={self.folder / 'ca.crt'}",
            f"--service-port={self.port}",
            "--external-name=localhost",
        )
        objects = list(yaml.safe_load_all(rendered))
        crds = [one for one in objects if one["kind"] == "CustomResourceDefinition" and not _built_in(one)]
        self._apply(*crds, *(self._own(one) for one in objects if one["kind"].endswith("WebhookConfiguration")))
        for crd in crds:
            self.plane.kubectl("wait", "--for=condition=Established", "crd", crd["metadata"]["name"])

    def uninstall_configurations(self) -> None:
        """Remove the webhook configurations."""
        for resource in ("mutatingwebhookconfiguration", "validatingwebhookconfiguration"):
            self.plane.kubectl("delete", resource, f"jobgate-{self.namespace}", "--ignore-not-found")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.uninstall_configurations()
        super().__exit__(kind, error, traceback)

    def _own(self, configuration: Mapping[str, Any]) -> dict[str, Any]:
        """Return a webhook configuration under our own name, and for our namespace."""
        ours = {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}}
        entries = [{**entry, "namespaceSelector": ours} for entry in configuration["webhooks"]]
        return {**configuration, "metadata": {"name": f"jobgate-{self.namespace}"}, "webhooks": entries}

    def _apply(self, *objects: Mapping[str, Any]) -> None:
        self.plane.kubectl("apply", "--server-side", "-f", "-", input=yaml.safe_dump_all(map(dict, objects)))

    def _is_called(self) -> bool:
        done = self.plane.kubectl(
            "-n", self.namespace, "create", "--dry-run=server", "-f", "-", input=_PROBE, check=False
        )
        return "spec.preemptible" in done.stderr


def package(folder: Path, kind: str) -> Path:
    """Write down a package as installed that has one kind, and return what is to be on Python's path.

    Args:
        folder: where to.
        kind: as `module:attribute`.
    """
    record = folder / "trial-1.dist-info"
    record.mkdir(parents=True)
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: trial\nVersion: 1\n", encoding="utf-8")
    (record / "entry_points.txt").write_text(f"[{ENTRY_POINT}]\ntrial = {kind}\n", encoding="utf-8")
    return folder


def _built_in(crd: Mapping[str, Any]) -> bool:
    return any(crd["metadata"]["name"] == kind.qualified_plural for kind in BUILT_IN)
