"""The release's own chain: actions pinned by commit, and an SBOM of what the lock file pins.

`SBOM=build/jobgate.cdx.json pytest …` checks a file that is there, as the release workflow does.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ACTIONS = [*sorted(Path(".github/workflows").glob("*.yml")), Path("action.yml")]
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
#: Dependencies of packages differ between these.
PLATFORMS = [
    {"sys_platform": system, "platform_system": name, "os_name": os_name, "python_version": version,
     "python_full_version": f"{version}.0", "implementation_name": "cpython", "platform_python_implementation": "CPython"}
    for system, name, os_name in (("linux", "Linux", "posix"), ("darwin", "Darwin", "posix"), ("win32", "Windows", "nt"))
    for version in ("3.11", "3.12", "3.13", "3.14")
]  # fmt: skip


def unpinned(text: str) -> list[str]:
    """Return the actions of a workflow that are not named by commit, with their version as a comment."""
    used = re.findall(r"^[\s-]*uses: *(.*)$", text, re.MULTILINE)
    return [action for action in used if not action.startswith("./") and not PINNED.fullmatch(action)]


@pytest.mark.parametrize("file", ACTIONS, ids=lambda file: file.name)
def test_actions_are_pinned_by_commit_with_their_version(file: Path) -> None:
    assert unpinned(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("uses", "pinned"),
    [
        (f"actions/checkout@{'0' * 40} # v5.1.0", True),
        (f"some/action/in/folder@{'0' * 40} # v1.0.0", True),
        ("./.github/actions/own", True),
        (f"actions/checkout@{'0' * 40}", False),
        (f"actions/checkout@{'0' * 40} # v5", False),
        ("actions/checkout@v5.1.0", False),
        ("actions/checkout@08c6903 # v5.1.0", False),
        ("pypa/gh-action-pypi-publish@release/v1", False),
    ],
)
def test_what_counts_as_pinned(uses: str, pinned: bool) -> None:
    assert unpinned(f"    steps:\n      - uses: {uses}\n") == ([] if pinned else [uses])


def test_one_action_has_one_version() -> None:
    used = {line for file in ACTIONS for line in re.findall(r"uses: (\S+@.*)", file.read_text(encoding="utf-8"))}
    assert len({line.partition("@")[0] for line in used}) == len(used)


def test_a_bot_renews_the_pins() -> None:
    updates = yaml.safe_load(Path(".github/dependabot.yml").read_text(encoding="utf-8"))["updates"]
    assert {"github-actions", "pip", "docker"} <= {each["package-ecosystem"] for each in updates}


def locked() -> dict[str, tuple[str, set[str]]]:
    """Return version and hashes of each package of the lock file."""
    result: dict[str, tuple[str, set[str]]] = {}
    for entry in re.split(r"\n(?=\S)", Path("requirements.lock").read_text(encoding="utf-8")):
        name, version = re.split(r"==|[ ;\\]", entry, maxsplit=2)[:2]
        result[canonicalize_name(name)] = version, set(re.findall(r"sha256:([0-9a-f]{64})", entry))
    return result


def dependencies(name: str, extras: frozenset[str]) -> Iterator[Requirement]:
    """Yield the dependencies of an installed package with these extras, on any platform."""
    try:
        declared = requires(name) or []
    except PackageNotFoundError:
        return  # of another platform
    for requirement in map(Requirement, declared):
        if _applies(requirement.marker, extras):
            yield requirement


def _applies(marker: Marker | None, extras: frozenset[str]) -> bool:
    cases = [{**platform, "extra": extra} for platform in PLATFORMS for extra in (extras or {""})]
    return marker is None or any(marker.evaluate(case) for case in cases)


def wheel_with_all_extras() -> set[str]:
    """Return the packages that `jobgate[all]` installs, of the metadata of the packages here."""
    known: set[tuple[str, frozenset[str]]] = set()
    left = [("jobgate", frozenset({"all"}))]
    while left:
        name, extras = package = left.pop()
        if package not in known:
            known.add(package)
            left += [
                (canonicalize_name(dependency.name), frozenset(dependency.extras))
                for dependency in dependencies(name, extras)
            ]
    return {name for name, _ in known} - {"jobgate", "jobgate-crdgen"}


@pytest.fixture(scope="module")
def sbom(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = Path(os.environ.get("SBOM") or tmp_path_factory.mktemp("sbom") / "jobgate.cdx.json")
    if not file.exists():
        command = ["make", "--old-file=install", "sbom", f"VENV={sys.prefix}", f"SBOM={file}"]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document


def test_the_sbom_lists_exactly_the_locked_packages_of_the_wheel(sbom: dict[str, Any]) -> None:
    pins = locked()
    listed = {canonicalize_name(each["name"]): each["version"] for each in sbom["components"]}
    assert listed == {name: pins[name][0] for name in wheel_with_all_extras()}
    assert len(listed) == len(sbom["components"])


def test_the_sbom_has_the_hashes_of_the_lock(sbom: dict[str, Any]) -> None:
    for each in sbom["components"]:
        references = each["externalReferences"]
        hashes = {digest["content"] for reference in references for digest in reference.get("hashes", ())}
        assert hashes == locked()[canonicalize_name(each["name"])][1], each["name"]


def test_the_sbom_names_the_release(sbom: dict[str, Any]) -> None:
    version = re.search(r'^version = "(.*)"$', Path("pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version
    component = sbom["metadata"]["component"]
    assert (component["name"], component["version"], sbom["bomFormat"]) == ("jobgate", version[1], "CycloneDX")


def test_the_lock_has_hashes_and_names_no_registry() -> None:
    assert all(hashes for _, hashes in locked().values())
    assert "://" not in Path("requirements.lock").read_text(encoding="utf-8")
