"""Cutting a release: what names the version, the commands that pages name, the changelog, the chart and the provenance."""

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from jobgate import __version__
from tools.release import (
    CHART,
    GENERATED,
    PLACES,
    digest,
    main,
    missing_names,
    other_versions,
    package_chart,
    statement,
    write_changelog,
    write_version,
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the files that name versions, commands and hooks."""
    files = ["README.md", "action.yml", ".pre-commit-hooks.yaml", "Makefile", *PLACES, *GENERATED]
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, tmp_path / file)
    return tmp_path


def test_this_checkout_names_one_version_and_what_exists() -> None:
    assert [*other_versions(Path(), __version__), *missing_names(Path())] == []


def test_the_version_is_written_to_every_place(checkout: Path) -> None:
    write_version(checkout, "12.3.4")
    left = list(other_versions(checkout, "12.3.4"))
    assert [fault.partition(":")[0] for fault in left] == [file for file, places in GENERATED.items() for _ in places]
    assert 'requires-python = ">=3.11"' in (checkout / "pyproject.toml").read_text()
    write_version(checkout, __version__)
    assert all((checkout / file).read_bytes() == Path(file).read_bytes() for file in PLACES)


@pytest.mark.parametrize("file", [*PLACES, *GENERATED])
def test_a_place_with_another_version_is_named(checkout: Path, file: str) -> None:
    text = (checkout / file).read_text()
    (checkout / file).write_text(text.replace(__version__, "9.9.9"))
    faults = list(other_versions(checkout, __version__))
    assert faults
    assert all(fault.startswith(f"{file}: names version 9.9.9") for fault in faults)


@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        (".pre-commit-hooks.yaml", "entry: crdgen lint", "entry: crdgen lints", "hook crdgen-lint: there is no command `crdgen lints`"),
        (".pre-commit-hooks.yaml", "entry: crdgen lint", "entry: crdlint", "hook crdgen-lint: there is no command `crdlint`"),
        (".pre-commit-hooks.yaml", "./packages/crdgen]", "./packages/lint]", "./packages/lint is no package of this repository"),
        (".pre-commit-hooks.yaml", "id: crdgen-eval", "id: crdgen-evaluate", "no hook crdgen-eval"),
        ("action.yml", "crdgen test.", "crdgen tests.", "action.yml: crdgen tests: there is no command"),
        ("action.yml", "  arguments:", "  files:", "the action has no input arguments"),
        ("README.md", "`jobgate doctor`", "`jobgate doctors`", "README.md: jobgate doctors: there is no command"),
        ("README.md", "`make demo`", "`make demos`", "README.md: there is no target `make demos`"),
    ],
)  # fmt: skip
def test_a_name_of_nothing_is_a_fault(checkout: Path, file: str, old: str, new: str, fault: str) -> None:
    text = (checkout / file).read_text()
    assert old in text
    (checkout / file).write_text(text.replace(old, new))
    for package in ("crdgen", "testing"):
        (checkout / f"packages/{package}/pyproject.toml").parent.mkdir(parents=True, exist_ok=True)
    faults = "\n".join(missing_names(checkout))
    assert fault in faults


def test_what_is_unreleased_becomes_the_section_of_the_version() -> None:
    log = "# Changelog\n\n## Unreleased\n\n### Added\n\n- One.\n\n## 0.1.0 - 2026-01-01\n\n- Zero.\n"
    cut = write_changelog(log, "0.2.0", "2026-02-02")
    assert cut == log.replace("## Unreleased\n", "## Unreleased\n\n## 0.2.0 - 2026-02-02\n")
    assert write_changelog(cut, "0.2.0", "2027-01-01") == cut, "a second run changes nothing"
    with pytest.raises(SystemExit, match=r"nothing to release as 0\.3\.0"):
        write_changelog(cut, "0.3.0", "2026-03-03")


def test_the_archive_of_the_chart_is_the_same_each_time_and_whole(tmp_path: Path) -> None:
    one, two = tmp_path / "one.tgz", tmp_path / "two.tgz"
    copied = shutil.copytree(CHART, tmp_path / "copy")  # other times and modes
    package_chart(CHART, one, 1_700_000_000)
    package_chart(copied, two, 1_700_000_000)
    assert one.read_bytes() == two.read_bytes()
    with tarfile.open(one) as archive:
        names = {member.name: member.size for member in archive}
    files = [path for path in CHART.rglob("*") if path.is_file()]
    assert names == {f"jobgate/{path.relative_to(CHART)}": path.stat().st_size for path in files}


@pytest.mark.helm
def test_helm_takes_the_archive_which_installs_the_published_image(tmp_path: Path, helm: Path) -> None:
    image = "registry.example.com/jobgate/jobgate:v9.9.9"
    package_chart(CHART, tmp_path / "jobgate.tgz", 1_700_000_000, image)
    outputs = [
        subprocess.check_output([helm, "template", "jobgate", chart, "--kube-version", "v1.36.0"], text=True)
        for chart in (tmp_path / "jobgate.tgz", CHART)
    ]
    assert outputs[0] == outputs[1].replace(f'image: "jobgate:{__version__}"', f'image: "{image}"')
    assert outputs[0] != outputs[1]


def test_the_provenance_names_the_artefact_its_commit_and_how_it_was_built(tmp_path: Path) -> None:
    file = tmp_path / "jobgate-0.1.0.tgz"
    file.write_bytes(b"content")
    document = json.loads(json.dumps(statement(file, "0.1.0", "a" * 40, "b" * 64, 1_700_000_000)))
    assert document["_type"] == "https://in-toto.io/Statement/v1"
    assert document["predicateType"] == "https://slsa.dev/provenance/v1"
    assert document["subject"] == [{"name": file.name, "digest": {"sha256": digest(file)}}]
    build = document["predicate"]["buildDefinition"]
    assert [source["digest"] for source in build["resolvedDependencies"]] == [
        {"gitCommit": "a" * 40},
        {"sha256": "b" * 64},
    ]
    assert document["predicate"]["runDetails"]["builder"]["id"]
    assert build["externalParameters"] == {"version": "0.1.0"}


@pytest.mark.parametrize("version", ["1.2", "v1.2.3", "1.02.3", "1.2.3rc1"])
def test_other_forms_of_versions_are_refused(version: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.release", "--check", version], check=False, capture_output=True, text=True
    )
    assert (done.returncode, f"'{version}' must be a version such as 0.1.0" in done.stderr) == (2, True)


@pytest.mark.parametrize("file", ["image.oci.tar", "jobgate.cdx.json"])
def test_the_image_is_to_be_published_by_hand_only_if_there_is_one(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / file).touch()
    monkeypatch.setattr(sys, "argv", ["release", __version__])
    monkeypatch.setattr("tools.release.BUILD", tmp_path)
    monkeypatch.setattr("tools.release.prepare", lambda _: None)
    monkeypatch.setattr("tools.release.build", lambda *_: [tmp_path / file])
    assert main() == 0
    output = capsys.readouterr().out
    assert "helm push" in output
    assert ("skopeo copy" in output) is (file == "image.oci.tar")
