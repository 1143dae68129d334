"""The wheels of `make dist` in empty environments: what each brings, and what runs there."""

import json
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from jobgate import __version__
from tests.installation.wheels import ROOT, UV, environment_with, locked_wheels, make_dist

CRDS = ROOT / "manifests/chart/jobgate/files/crds"
SHOP = """
from typing import Annotated
from crdgen import Model, ValidationRule

class OrderSpec(Model):
    count: Annotated[int, ValidationRule("self > 3", message="must be more than 3")]
"""
ORDER = "{apiVersion: shop.example.com/v1, kind: Order, metadata: {name: one}, spec: {count: 1}}"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Folders with the wheels of this checkout, and of all packages that they need."""
    return [
        make_dist(tmp_path_factory.mktemp("dist") / "dist"),
        locked_wheels(tmp_path_factory.mktemp("locked")),
    ]


def run(*command: str | Path, folder: Path) -> tuple[int, str]:
    """Run a program with nothing of this Python, and return its exit status and output."""
    environment = {
        "PATH": f"{Path(command[0]).parent}:/usr/bin:/bin",
        "HOME": str(Path.home()),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500, check=False
    )
    return done.returncode, done.stdout + done.stderr


def installed(programs: Path) -> set[str]:
    listed = subprocess.check_output([UV, "pip", "list", "--format=json", "--python", programs / "python"])
    return {each["name"] for each in json.loads(listed)}


def test_no_file_is_in_two_wheels(wheels: list[Path]) -> None:
    built = sorted(wheels[0].glob("*.whl"))
    assert [file.name.split("-")[0] for file in built] == ["jobgate", "jobgate_crdgen", "jobgate_testing"]
    names = [name for file in built for name in ZipFile(file).namelist()]
    assert len(names) == len(set(names))


def test_crdgen_works_without_the_rest(wheels: list[Path], tmp_path: Path) -> None:
    programs = environment_with(tmp_path / "venv", "jobgate-crdgen", *wheels)
    assert installed(programs).isdisjoint(
        {"jobgate", "click", "aiohttp", "cryptography", "kubernetes", "cel-expr-python"}
    )
    crd = CRDS / "batch.volcano.sh_jobs.yaml"
    assert run(programs / "crdgen", "lint", crd, folder=tmp_path)[0] == 0
    (tmp_path / "broken.yaml").write_text(crd.read_text().replace("scope: Namespaced", "scope: Everywhere"))
    status, output = run(programs / "crdgen", "lint", "broken.yaml", folder=tmp_path)
    assert (status, "scope" in output) == (1, True), output
    assert evaluated(programs, tmp_path) == (0, True)


def test_crdgen_checks_rules_with_its_extra(wheels: list[Path], tmp_path: Path) -> None:
    programs = environment_with(tmp_path / "venv", "jobgate-crdgen[cel]", *wheels)
    assert evaluated(programs, tmp_path) == (1, False)


def evaluated(programs: Path, folder: Path) -> tuple[int, bool]:
    """Generate a CRD with a rule, and return the verdict on an object that breaks it, and whether the extra is named."""
    (folder / "shop.py").write_text(SHOP)
    generate = ("generate", "shop:OrderSpec", "--group", "shop.example.com", "--version", "v1")
    crd = subprocess.check_output([programs / "python", "-m", "crdgen", *generate], cwd=folder)
    (folder / "crd.yaml").write_bytes(crd)
    (folder / "order.yaml").write_text(ORDER)
    status, output = run(programs / "crdgen", "eval", "order.yaml", "--crd", "crd.yaml", folder=folder)
    return status, "pip install 'jobgate-crdgen[cel]'" in output


def test_jobgate_reviews_and_brings_crdgen_of_its_version(wheels: list[Path], tmp_path: Path) -> None:
    programs = environment_with(tmp_path / "venv", "jobgate", *wheels)
    assert {"jobgate", "jobgate-crdgen"} <= installed(programs)
    assert run(programs / "jobgate", "--version", folder=tmp_path)[1].strip() == f"jobgate, version {__version__}"
    assert run(programs / "jobgate", "review", ROOT / "examples/dijob/minimal.yaml", folder=tmp_path)[0] == 0
    assert run(programs / "jobgate", "review", ROOT / "examples/dijob/broken", folder=tmp_path)[0] == 1
    subprocess.run([UV, "pip", "uninstall", "--quiet", "--python", programs / "python", "jobgate"], check=True)
    assert run(programs / "crdgen", "lint", CRDS, folder=tmp_path)[0] == 0


def test_a_new_package_passes_its_tests_with_the_wheel_for_tests(wheels: list[Path], tmp_path: Path) -> None:
    programs = environment_with(tmp_path / "venv", "jobgate-testing", *wheels)
    assert run(programs / "jobgate", "new", "kind", "Database", "--no-tasks", folder=tmp_path)[0] == 0
    package = tmp_path / "database"
    flags = ("--quiet", "--offline", "--no-index", "--find-links", str(wheels[1]), "--no-deps")
    subprocess.run([UV, "pip", "install", *flags, "--python", programs / "python", package], check=True)
    status, output = run(programs / "pytest", "-q", "-p", "no:cacheprovider", folder=package)
    assert status == 0, output
    assert "skipped" not in output
