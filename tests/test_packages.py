"""Kinds and plugins of installed packages, some of them broken."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from jobgate import kinds, plugins
from jobgate.cli import main
from jobgate.jobs.context import Settings
from jobgate.packages import Provided, UnusablePackage, may_provide, provided, usable
from jobgate.pods.digest import LACKING, UnusableJob, digest_of
from jobgate.pods.reviewer import PodReviewer
from tests.installed import forget, install, on_path
from webhook import Operation, Phase, Request

KIND, PLUGIN = "jobgate.kinds", "jobgate.plugins"
JOBS = "examples/dijob/minimal.yaml"
OTHER = "apiVersion: example.com/v1\nkind: Sweep\nmetadata: {name: rates}\n"
FAULT = (
    "no_kind:KIND of the package no_kind 1.2, the entry point sweep of jobgate.kinds, cannot be loaded: KeyError: 'x'"
)
GOOD_PLUGIN = """
from jobgate.api import Arguments, Plugin
class Good(Plugin[Arguments]):
    name = "good"
    arguments = Arguments
PLUGIN = Good()
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a package whose kind cannot be imported."""
    install(tmp_path, "no_kind", {f"{KIND}:sweep": "no_kind:KIND"}, "raise KeyError('x')")
    with monkeypatch.context() as patch:
        on_path(tmp_path, patch)
        yield tmp_path
    forget()


def jobgate(*arguments: str, given: str = "") -> Result:
    return CliRunner().invoke(main, arguments, input=given, catch_exceptions=False)


@pytest.mark.parametrize(
    ("target", "wanted", "fault"),
    [
        ("math:pi", float, ""),
        ("math:tau_and_pi", float, "cannot be loaded: AttributeError: module 'math' has no attribute 'tau_and_pi'"),
        ("no_such_module:x", float, "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
        ("math:pi", int, "must be a int, not a float"),
        ("this_exits:x", float, "cannot be loaded: SystemExit: 1"),
    ],
)
def test_an_entry_point_is_loaded_or_has_a_fault(site: Path, target: str, wanted: type[Any], fault: str) -> None:
    install(site, "mine", {"things:one": target})
    (site / "this_exits.py").write_text("raise SystemExit(1)")
    (entry,) = provided("things", wanted)
    assert entry == Provided("one", target, "things", "mine", "1.2", None if fault else 3.141592653589793, fault)


def test_a_broken_entry_point_is_named_in_a_warning_and_stops_no_other(site: Path) -> None:
    install(site, "good", {"things:a": "math:missing", "things:b": "math:pi"})
    with pytest.warns(UnusablePackage, match="^math:missing of the package good 1.2, the entry point a of things, "):
        assert list(usable(provided("things", float))) == [3.141592653589793]


def test_kinds_without_the_broken_one_say_what_they_lack(site: Path) -> None:
    with pytest.warns(UnusablePackage):
        registry = kinds.installed()
    assert (len(registry), registry.lacking) == (len(kinds.BUILT_IN), (FAULT,))
    assert registry.plus([]).lacking == (FAULT,)


def test_a_kind_with_the_name_of_another_is_unusable(site: Path) -> None:
    install(site, "again", {f"{KIND}:again": "jobgate.kinds.dijob:DIJOB"})
    entry = next(entry for entry in kinds.of_packages() if entry.package == "again")
    assert "two kinds claim one name" in entry.fault
    assert entry.value is None


def test_a_plugin_with_the_name_of_another_is_unusable(site: Path) -> None:
    install(site, "again", {f"{PLUGIN}:svc": "jobgate.plugins.svc:SVC"}, "")
    install(site, "twice", {f"{PLUGIN}:a": "twice:PLUGIN", f"{PLUGIN}:b": "twice:PLUGIN"}, GOOD_PLUGIN)
    with pytest.warns(UnusablePackage):
        assert "good" in plugins.installed()
    assert [fault.partition(", ")[2] for fault in plugins.lacking()] == [
        "the entry point b of jobgate.plugins, cannot be used: two plugins are named good",
        "the entry point svc of jobgate.plugins, cannot be loaded: "
        "AttributeError: module 'jobgate.plugins.svc' has no attribute 'SVC'",
    ]


@pytest.mark.usefixtures("site")
def test_commands_go_on_with_one_warning() -> None:
    named = (
        "--run",
        "sweeps.example.com",
        "--operator-can",
        "sweeps/preemptible",
        "--without-kind",
        "sweeps.example.com",
    )
    result = jobgate("review", JOBS, "--run", "torchjobs.train.distributed.io", *named)
    assert result.exit_code == 0
    assert result.stderr.count(f"warning: {FAULT}\n") == 1
    assert "warning: sweeps.example.com is ignored: it may be that of a package that cannot be loaded" in result.stderr


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("document", "code"),
    [(OTHER, 1), (OTHER.replace("example.com/v1", "v1"), 0), (OTHER.replace("example.com", "apps"), 0)],
)
def test_objects_that_may_be_of_the_broken_package_do_not_pass_unreviewed(document: str, code: int) -> None:
    result = jobgate("review", "-", given=document)
    assert (result.exit_code, "is of no kind that is known; no_kind:KIND" in result.stdout) == (code, code == 1)


@pytest.mark.usefixtures("site")
def test_an_installation_is_not_rendered_without_a_kind() -> None:
    result = jobgate("manifests")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{FAULT}: repair or uninstall it" in result.stderr


def test_kinds_and_plugins_are_listed_with_their_packages(site: Path) -> None:
    install(site, "good", {f"{PLUGIN}:good": "good:PLUGIN"}, GOOD_PLUGIN)
    result = jobgate("kinds", "--kinds", "rayjobs.ray.io")
    assert result.exit_code == 1
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["DIJob", "diengine.opendilab.org/v2alpha1", "jobgate", rows[1][3], "jobgate.kinds.dijob:DIJOB"] in rows
    assert ["RayJob", "ray.io/v1", "rayjobs.ray.io"] in rows
    assert ["good", "good", "1.2", "good:PLUGIN"] in rows
    assert f"warning: {FAULT}\n" in result.stderr
    document = json.loads(jobgate("kinds", "-o", "json").stdout)
    assert {"plugin": "good", "package": "good", "version": "1.2", "from": "good:PLUGIN"} in document["plugins"]
    (broken,) = document["unusable"]
    assert (broken["package"], broken["group"], broken["name"]) == ("no_kind", KIND, "sweep")


def test_a_kind_without_a_schema_is_named(site: Path) -> None:
    module = """
from typing import Annotated
from crdgen import CustomResource, Doc, Model, Names, Version
from jobgate.api import bind
class Spec(Model):
    value: Annotated[int, Doc(Doc("a text in a text"))]
KIND = bind(CustomResource("example.com", Names(kind="Odd"), (Version("v1", spec=Spec),)))
"""
    install(site, "odd", {f"{KIND}:odd": "odd:KIND"}, module)
    result = jobgate("kinds", "-o", "json")
    (broken,) = (each for each in json.loads(result.stdout)["unusable"] if each["package"] == "odd")
    assert (result.exit_code, broken["fault"].startswith("has no valid schema: ")) == (1, True)
    assert f"odd:KIND of the package odd 1.2, the entry point odd of {KIND}, has no valid schema: " in result.stderr


def test_pods_of_a_job_with_a_plugin_that_cannot_be_loaded_are_denied(site: Path) -> None:
    install(site, "lost", {f"{PLUGIN}:lost": "lost:PLUGIN"})
    with pytest.warns(UnusablePackage):
        plugins.installed()
    kind = next(kind for kind in kinds.built_in() if kind.kind == "DIJob")
    task = {"type": "none", "replicas": 1, "template": {"spec": {"containers": [{"name": "main", "image": "i"}]}}}
    job = {"metadata": {"name": "train", "namespace": "a", "uid": "u"}, "spec": {"tasks": [task]}}
    cases: list[tuple[dict[str, Any], bool]] = [({"lost": []}, True), ({"svc": []}, False)]
    for requested, expected in cases:
        digest = digest_of(kind, {**job, "spec": {"tasks": [task], "plugins": requested}}, Settings())
        assert (digest == UnusableJob("u", LACKING)) is expected
    result = jobgate(
        "review",
        "-",
        given=json.dumps(
            {
                "apiVersion": "diengine.opendilab.org/v2alpha1",
                "kind": "DIJob",
                **job,
                "spec": {"tasks": [task], "plugins": {"lost": []}},
            }
        ),
    )
    assert "or its package is broken: lost:PLUGIN of the package lost 1.2" in result.stdout


@pytest.mark.parametrize(
    ("metadata", "denied"),
    [
        ({"labels": {"jobgate.dev/kind": "sweeps.example.com"}}, True),
        ({"ownerReferences": [{"apiVersion": "example.com/v1", "kind": "Sweep", "name": "rates"}]}, True),
        ({"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "rates"}]}, False),
        ({"labels": {"app": "web"}}, False),
    ],
)
async def test_pods_that_may_be_of_a_kind_that_cannot_be_loaded_are_denied(
    metadata: dict[str, Any], denied: bool
) -> None:
    request = Request(
        uid="u",
        api_version="v1",
        kind="Pod",
        operation=Operation.CREATE,
        namespace="a",
        name="p",
        document={"metadata": metadata, "spec": {}},
    )
    answer = await PodReviewer((), lacking=[FAULT]).review(request, Phase.MUTATE)
    assert (answer is not None and not answer.allowed) is denied
    if answer is not None:
        assert FAULT in str(answer.status())


@pytest.mark.parametrize(
    "folder, content, expected",
    [
        ("sweep-1.0.dist-info", "[jobgate.kinds]\nsweepjob = sweepjob:SWEEPJOB\n", True),
        ("sweep.egg-info", "[jobgate.kinds]\nsweepjob = sweepjob:SWEEPJOB\n", True),
        ("sweep-1.0.dist-info", "[jobgate.plugins]\nscratch = scratch:Scratch\n", False),
        ("sweep", "[jobgate.kinds]\nsweepjob = sweepjob:SWEEPJOB\n", False),
    ],
)
def test_only_records_of_installed_packages_may_provide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, content: str, expected: bool
) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "entry_points.txt").write_text(content)
    monkeypatch.setattr("sys.path", [str(tmp_path), str(tmp_path / "absent")])
    assert may_provide("jobgate.kinds") is expected


def test_an_archive_in_the_path_may_provide_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its records are not read."""
    archive = tmp_path / "all.zip"
    monkeypatch.setattr("sys.path", [str(archive)])
    assert not may_provide("jobgate.kinds")
    archive.write_bytes(b"PK")
    assert may_provide("jobgate.kinds")


def test_what_cannot_be_read_may_provide_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a-info" / "entry_points.txt").mkdir(parents=True)
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert may_provide("jobgate.kinds")
