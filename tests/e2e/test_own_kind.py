"""The kind of a package, whose jobs jobgate runs and whose pods it wires, in a cluster with controllers."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from controlplane import WholeAssets, WholeControlPlane
from controlplane.fixtures import open_namespace
from controlplane.runner import runner
from controlplane.simulation import ends
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from jobgate.kinds import of_packages

PACKAGE = Path("examples/own-kind")


def test_its_jobs_run_and_their_pods_have_the_variables_of_its_runner(
    whole_assets: WholeAssets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    install = ("pip", "install", "--quiet", "--offline", "--no-deps", "--no-build-isolation", "--target", site)
    subprocess.run([Path(sys.executable).with_name("uv"), *install, "--python", sys.executable, PACKAGE], check=True)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), str(Path.cwd())]))
    (kind,) = (entry.value for entry in of_packages() if entry.package == "sweepjob")
    assert kind is not None
    job = yaml.safe_load((PACKAGE / "examples/minimal.yaml").read_text())
    job["spec"]["parallelism"] = 2
    for trial in job["spec"]["trials"]:
        trial["template"]["metadata"] = {"annotations": ends(0, after="2s")}
    job["spec"]["trials"][0]["replicas"] = 2
    name = kind.qualified_plural
    with (
        WholeControlPlane(whole_assets) as plane,
        InstalledWebhook(plane, tmp_path, [f"--run={name}"], kinds=[kind]),
        runner(plane, tmp_path / "runner.log", kinds=[name]),
    ):
        namespace = open_namespace(plane.client)
        path = f"/apis/{kind.gvk.api_version}/namespaces/{namespace}/{kind.plural}"

        def items(of: str) -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = plane.client.get(of)[1]["items"]
            return found

        assert plane.client.post(path, job)[0] == 201
        pods = f"/api/v1/namespaces/{namespace}/pods"
        wait_for(lambda: len(items(pods)) == 3, what="the pods")
        variables = [
            {each["name"]: each.get("value") for each in pod["spec"]["containers"][0]["env"]} for pod in items(pods)
        ]
        ranks = sorted((each["RANK"], each["WORLD_SIZE"]) for each in variables)
        assert ranks == [("0", "1"), ("0", "2"), ("1", "2")]
        wait_for(lambda: items(path)[0].get("status", {}).get("phase") == "Succeeded", 120, what="the end of the job")
