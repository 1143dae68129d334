"""A jobgate for one namespace, with its own settings or kinds, beside the shared one on the same API server."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from controlplane.fixtures import new_namespace
from controlplane.objects import ClusterObjects
from controlplane.plane import ControlPlane
from controlplane.webhook import CONFIGURATIONS, InstalledWebhook
from jobgate.installation import Installation, objects
from jobgate.installation.definitions import definition
from jobgate.jobs.kind import CustomKind
from jobgate.kinds import ENTRY_POINT, built_in
from webhook import Registry


class PrivateWebhook(InstalledWebhook):
    """A webhook server that the API server calls only for one new namespace.

    The namespace has opted out of the shared jobgate, but uses its CRDs and Service.

    Attributes:
        kinds: further kinds; their CRDs are installed, too.
    """

    def __init__(
        self, plane: ControlPlane, folder: Path, settings: Sequence[str] = (), kinds: Iterable[CustomKind] = ()
    ) -> None:
        super().__init__(plane, folder, settings)
        self.namespace = new_namespace(plane.client, {"jobgate.dev/admission": "disabled"})
        self.kinds = tuple(kinds)

    def install(self, **choices: Any) -> None:
        """Apply the webhook configurations for this namespace, and the CRDs of the further kinds."""
        chosen = Installation(
            crds=False,
            rotation="none",
            ca_bundle=(self.folder / "ca.crt").read_bytes(),
            service_port=self.port,
            external_name="localhost",
            **choices,
        )
        rendered = objects(Registry([*built_in(), *self.kinds]), chosen)
        configurations = [self._own(each) for each in rendered if each["kind"].endswith("WebhookConfiguration")]
        ClusterObjects(self.plane.client).apply(
            *(definition(kind, chosen) for kind in self.kinds if kind.resource), *configurations
        )

    def uninstall_configurations(self) -> None:
        """Remove the webhook configurations."""
        for path in CONFIGURATIONS:
            self.plane.client.delete(f"{path}/jobgate-{self.namespace}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.uninstall_configurations()
        super().__exit__(kind, error, traceback)

    def _own(self, configuration: Mapping[str, Any]) -> dict[str, Any]:
        """Return a webhook configuration with a name of its own, for this namespace."""
        ours = {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}}
        entries = [{**entry, "namespaceSelector": ours} for entry in configuration["webhooks"]]
        return {**configuration, "metadata": {"name": f"jobgate-{self.namespace}"}, "webhooks": entries}


@contextmanager
def on_path(*folders: Path) -> Iterator[None]:
    """Have the processes that are started meanwhile find the packages in some folders, before those of this project."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (*folders, Path.cwd()))))
        yield


def package(folder: Path, kind: str) -> Path:
    """Write the metadata of an installed package with one kind, and return the folder to put on Python's path.

    Args:
        folder: where the metadata is written.
        kind: the kind, as `module:attribute`.
    """
    record = folder / "trial-1.dist-info"
    record.mkdir(parents=True)
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: trial\nVersion: 1\n", encoding="utf-8")
    (record / "entry_points.txt").write_text(f"[{ENTRY_POINT}]\ntrial = {kind}\n", encoding="utf-8")
    return folder
