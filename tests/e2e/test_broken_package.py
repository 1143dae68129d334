"""A server whose image has a package that cannot be loaded, on a real API server."""

from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml

from controlplane.plane import ControlPlane
from controlplane.webhook import InstalledWebhook
from tests.e2e.private import PrivateWebhook, on_path, package
from tests.e2e.trial import OLDER

FAULT = (
    "tests.e2e.nowhere:KIND of the package trial 1, the entry point trial of jobgate.kinds, cannot be loaded: "
    "ModuleNotFoundError: No module named 'tests.e2e.nowhere'"
)
TASK = {"template": {"spec": {"containers": [{"name": "main", "image": "trainer"}]}}}


@pytest.fixture(scope="module")
def broken(
    webhook: InstalledWebhook, controlplane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PrivateWebhook]:
    """A server without the kind whose CRD and webhooks are installed."""
    assert webhook.port
    folder: Path = tmp_path_factory.mktemp("broken")
    settings = [f"--run={OLDER.qualified_plural}", "--run=torchjobs.train.distributed.io"]
    with (
        on_path(package(folder / "site", "tests.e2e.nowhere:KIND")),
        PrivateWebhook(controlplane, folder, settings, kinds=[OLDER]) as private,
    ):
        yield private
    name = OLDER.qualified_plural
    controlplane.client.delete(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}")


def test_objects_of_its_kind_are_denied_with_its_name(broken: PrivateWebhook) -> None:
    path = f"/apis/{OLDER.gvk.api_version}/namespaces/{broken.namespace}/{OLDER.plural}"
    body = {
        "apiVersion": OLDER.gvk.api_version,
        "kind": OLDER.kind,
        "metadata": {"name": "a"},
        "spec": {"tasks": [TASK]},
    }
    status, answer = broken.plane.client.post(path, body)
    assert status == 500
    # The API server quotes the answer of the webhook.
    assert f"jobgate does not serve this kind: {FAULT}" in answer["message"], answer["message"]


def test_other_kinds_are_served(broken: PrivateWebhook) -> None:
    job = yaml.safe_load(Path("examples/dijob/broken/four-faults.yaml").read_text())
    path = f"/apis/{job['apiVersion']}/namespaces/{broken.namespace}/dijobs"
    status, answer = broken.plane.client.post(path, job)
    assert (status, "Duplicate value" in answer["message"]) == (422, True)


def test_it_is_in_the_probe_the_metrics_and_the_log(broken: PrivateWebhook) -> None:
    def answer(path: str) -> str:
        with urlopen(f"http://127.0.0.1:{broken.health_port}/{path}", timeout=30) as got:
            return str(got.read().decode())

    assert answer("readyz") == f"ok\n{FAULT}\n"
    assert "\njobgate_unusable_packages 1.0\n" in answer("metrics")
    log = broken.log.read_text()
    assert log.count('"message":"package unusable"') == 1
    assert f"warning: {OLDER.qualified_plural} is ignored" in log
