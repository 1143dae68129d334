"""The steps that verify a published release, run as GitHub runs them; `gh` and `docker` are scripts."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.needs("bash", "jq")

JOBS: dict[str, Any] = yaml.safe_load(Path(".github/workflows/release.yml").read_text(encoding="utf-8"))["jobs"]
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
    # GitHub's default shell.
    done = subprocess.run(["bash", "-e", "-c", step(job, name)], cwd=tmp_path, env=environment, check=False)
    assert (done.returncode == 0) is passes


@pytest.mark.parametrize(
    ("job", "publishes"),
    [("distributions", "gh release create"), ("publish", "gh-action-pypi-publish"), ("image", "imagetools create")],
)
def test_nothing_is_published_before_it_is_verified(job: str, publishes: str) -> None:
    steps = JOBS[job]["steps"]
    (at,) = (index for index, step in enumerate(steps) if publishes in step.get("run", step.get("uses", "")))
    assert any(step.get("name", "").startswith("Verify") for step in steps[:at])
