"""The steps that verify a published release, run as GitHub runs them; `gh` and `docker` are scripts."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.needs("bash", "jq")

WORKFLOW: dict[str, Any] = yaml.safe_load(Path(".github/workflows/release.yml").read_text(encoding="utf-8"))
JOBS: dict[str, Any] = WORKFLOW["jobs"]
LOCK = "aiohttp==3.14.5 \\\n    --hash=sha256:00\n"
SBOM = {"bomFormat": "CycloneDX", "components": [{"name": "aiohttp"}]}
#: Accepts what the file `attested` names, as `gh attestation verify` with the flags that identify the release.
GH = """#!/bin/bash
echo "$@" >>calls
for flag in --repo --source-digest --signer-workflow --deny-self-hosted-runners; do
    [[ " $* " == *" $flag "* ]] || exit 2
done
grep -qx "$3" attested || exit 1
[[ " $* " != *" --format json "* ]] || cat verified
"""
DOCKER = """#!/bin/bash
case "$*" in *.SBOM*) cat image-sbom ;; *.Provenance*) cat image-provenance ;; *Manifest.Digest*) cat digest ;; esac
"""
IMAGE = "oci://registry/jobgate@sha256:1"


def step(job: str, name: str) -> str:
    (result,) = (step["run"] for step in JOBS[job]["steps"] if step.get("name", "").startswith(name))
    return str(result)


def image_sbom(version: str = "3.14.5", *platforms: str) -> str:
    packages = [{"name": "aiohttp", "versionInfo": version}]
    return json.dumps({of: {"SPDX": {"packages": packages}} for of in platforms or ("linux/amd64", "linux/arm64")})


def verified(sbom: object) -> str:
    return json.dumps([{"verificationResult": {"statement": {"predicate": sbom}}}])


FILES = {
    "dist/jobgate.whl": "",
    "dist/jobgate.tar.gz": "",
    "build/jobgate.cdx.json": json.dumps(SBOM),
    "requirements.lock": LOCK,
    "attested": f"dist/jobgate.whl\ndist/jobgate.tar.gz\n{IMAGE}\n",
    "verified": verified(SBOM),
    "image-sbom": image_sbom(),
    "image-provenance": json.dumps({of: {"SLSA": {"buildType": "x"}} for of in ("linux/amd64", "linux/arm64")}),
    "digest": "sha256:1",
}


@pytest.mark.parametrize(
    ("job", "name", "changed", "passes"),
    [
        pytest.param("distributions", "Verify", {}, True, id="distributions"),
        pytest.param("distributions", "Verify", {"attested": "dist/jobgate.tar.gz\n"}, False, id="a wheel without"),
        pytest.param("distributions", "Verify", {"attested": "dist/jobgate.whl\n"}, False, id="a source without"),
        pytest.param("distributions", "Verify", {"verified": verified({})}, False, id="the SBOM of something else"),
        pytest.param("publish", "Verify", {}, True, id="what is published"),
        pytest.param("publish", "Verify", {"dist/other.whl": ""}, False, id="a file more is published"),
        pytest.param("image", "Verify", {}, True, id="image"),
        pytest.param("image", "Verify", {"attested": ""}, False, id="an image without provenance"),
        pytest.param("image", "Verify", {"image-sbom": image_sbom("3.14.5", "linux/amd64")}, False, id="one platform"),
        pytest.param("image", "Verify", {"image-sbom": image_sbom("3.14.4")}, False, id="a package that is not locked"),
        pytest.param("image", "Verify", {"image-provenance": "{}"}, False, id="no provenance of the build"),
        pytest.param("image", "Tag", {}, True, id="tagged"),
        pytest.param("image", "Tag", {"digest": "sha256:2"}, False, id="another image is tagged"),
    ],
)
def test_only_what_is_attested_passes(
    tmp_path: Path, job: str, name: str, changed: dict[str, str], passes: bool
) -> None:
    for file, text in {**FILES, "bin/gh": GH, "bin/docker": DOCKER, **changed}.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text, encoding="utf-8")
    for program in (tmp_path / "bin").iterdir():
        program.chmod(0o755)
    environment = {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "GITHUB_REPOSITORY": "jobgate/jobgate",
        "GITHUB_REF": "refs/tags/v1.2.3",
        "GITHUB_REF_NAME": "v1.2.3",
        "GITHUB_SHA": "0" * 40,
        "IMAGE": "registry/jobgate",
        "PUSHED": IMAGE.removeprefix("oci://"),
        "DIGEST": "sha256:1",
    }
    assert (run(step(job, name), tmp_path, environment) == 0) is passes


@pytest.mark.parametrize("status", [0, 1])
def test_a_chart_that_cannot_be_pushed_fails_the_job(tmp_path: Path, status: int) -> None:
    (script,) = (step["run"] for step in JOBS["chart"]["steps"] if step.get("id") == "push")
    helm = tmp_path / "helm"
    helm.write_text(
        f'#!/bin/bash\n[[ $1 == registry ]] || {{ echo "Digest: sha256:1"; exit {status}; }}\n', encoding="utf-8"
    )
    helm.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "GITHUB_OUTPUT": "output"}
    assert run(script, tmp_path, environment) == status
    assert (tmp_path / "output").exists() is (status == 0)


def run(script: str, folder: Path, environment: dict[str, str]) -> int:
    """Run a step, and return its exit status."""
    # What GitHub runs for this shell.
    assert WORKFLOW["defaults"] == {"run": {"shell": "bash"}}
    shell = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c"]
    return subprocess.run([*shell, script], cwd=folder, env=environment, check=False).returncode


@pytest.mark.parametrize(
    ("job", "publishes"),
    [("distributions", "gh release create"), ("publish", "gh-action-pypi-publish"), ("image", "imagetools create")],
)
def test_nothing_is_published_before_it_is_verified(job: str, publishes: str) -> None:
    steps = JOBS[job]["steps"]
    (at,) = (index for index, step in enumerate(steps) if publishes in step.get("run", step.get("uses", "")))
    assert any(step.get("name", "").startswith("Verify") for step in steps[:at])
