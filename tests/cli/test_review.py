"""`jobgate review`, as a person and as a program meet it."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonpatch
import pytest
import yaml
from click.testing import CliRunner, Result

from jobgate.cli import main
from jobgate.cli.report import paint
from tests.corpus import compare

EXAMPLES = Path("examples/dijob")
SOUND = """\
apiVersion: diengine.opendilab.org/v2alpha1
kind: DIJob
metadata: {name: job}
spec:
  tasks:
  - type: learner
    template: {spec: {containers: [{name: main, image: ding}]}}
"""
BROKEN = SOUND.replace("type: learner", "type: none")


def review(*arguments: str, text: str | None = None) -> Result:
    """Run the command; its standard input is the text."""
    return CliRunner().invoke(main, ["review", *arguments], input=text, catch_exceptions=False)


def entries(*arguments: str, text: str | None = None) -> list[dict[str, Any]]:
    """Return what the command prints for machines."""
    result: list[dict[str, Any]] = json.loads(review("-o", "json", *arguments, text=text).stdout)
    return result


@pytest.mark.parametrize(
    "text, code",
    [
        (SOUND, 0),
        (BROKEN, 1),
        (SOUND + "---\n" + BROKEN, 1),
        ("a: [", 0),
        ("", 0),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", 0),
        ("apiVersion: [", 2),
        (SOUND + "---\na: [", 2),
    ],
)
def test_the_exit_status_tells_allowed_denied_and_unusable(text: str, code: int) -> None:
    assert review("-", text=text).exit_code == code


def test_a_person_reads_the_faults_and_the_changes() -> None:
    result = review("-", text=SOUND.replace("name: job", "name: a.b") + "---\n" + SOUND)
    assert result.stdout.splitlines() == [
        "<stdin>:3:18: error: DIJob a.b: metadata.name: Invalid value: \"a.b\": must consist of lower case letters, digits and '-', and begin and end "
        "with a letter or a digit: DI-orchestrator names the pods <job>-<task>-<index> and the Service di-<job>; each name may have at most 63 characters "
        "[derived_names_are_legal]",
        "<stdin>:9: DIJob job: allowed",
        "  changes when stored:",
        "    + spec.tasks[0].replicas: 1",
        '    + spec.tasks[0].name: "learner"',
        "    + spec.backoffLimit: 3",
        '    + spec.cleanPodPolicy: "Running"',
        "    + spec.preemptible: false",
        '    + spec.priority: "normal"',
        "2 objects: 1 error, 0 warnings",
    ]
    assert review("-", "-q", text=SOUND).output == ""


def test_findings_are_accepted_by_a_comment_and_by_a_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    file = tmp_path / "deep/job.yaml"
    file.write_text(BROKEN.replace("  tasks:", "  minReplicas: 9  # jobgate: ignore\n  tasks:"))
    assert "deep/job.yaml:7:5: error: DIJob job: spec.tasks[0].name: Required" in review("-R", ".").output
    assert review(".").exit_code == 0, "without -R, directories below are not read"
    assert review("-R", ".", "--baseline", "b.txt", "--write-baseline").exit_code == 0
    assert review("-R", ".", "--baseline", "b.txt").output == "1 object: 0 errors, 0 warnings; 2 findings accepted\n"
    assert "--write-baseline requires the file" in review(".", "--write-baseline").stderr


@pytest.mark.parametrize(("variable", "coloured"), [("", True), ("1", False)])
def test_colours_are_for_people_who_want_them(variable: str, coloured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobgate.cli.report.sys.stdout", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setenv("NO_COLOR", variable)
    assert (paint("error") != "error") is coloured


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "jobgate", "review", "-"], input=BROKEN, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "spec.tasks[0].name: Required value" in done.stdout) == (1, True)


def test_an_object_of_another_kind_loads_no_kind() -> None:
    text = "import sys; from jobgate.cli import main; main(['review', '-'], standalone_mode=False); print('pydantic' in sys.modules)"
    objects = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n"
    done = subprocess.run([sys.executable, "-c", text], input=objects, capture_output=True, text=True, check=False)
    assert done.stdout == "0 objects: 0 errors, 0 warnings; 1 of other kinds\nFalse\n"


def test_packages_and_catalogue_are_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def may_provide(group: str) -> bool:
        calls.append(group)
        return False

    monkeypatch.setattr("jobgate.cli.review.may_provide", may_provide)
    review("-", text="apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n" * 3)
    assert calls == ["jobgate.kinds"]


def test_a_job_loads_no_other_kind() -> None:
    loaded = loaded_by("jobgate", "review", "-", text=SOUND)
    assert {name.split(".")[2] for name in loaded if name.startswith("jobgate.kinds.")} == {"dijob"}


#: Modules that are slow to load, and needed by few calls of these commands.
SLOW = {"asyncio", "concurrent", "crdgen.cel", "crdgen.lint", "importlib.metadata", "logging", "ssl"}


def loaded_by(module: str, *arguments: str, text: str = "") -> set[str]:
    """Return the modules that a command loads, and the names of the dataclasses in our own."""
    program = (
        "import atexit, os, runpy, sys; from dataclasses import is_dataclass; os._exit = sys.exit; atexit.register(lambda: print(*sys.modules, *("
        "f'{name}:{each}' for name, part in sys.modules.items() if name.split('.')[0] in ('crdgen', 'jobgate', 'webhook')"
        "for each, value in vars(part).items() if getattr(value, '__module__', '') == name and is_dataclass(value))));"
        f"sys.argv = ['', *{arguments!r}]; runpy.run_module({module!r}, run_name='__main__', alter_sys=True)"
    )
    done = subprocess.run([sys.executable, "-c", program], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def test_a_review_loads_nothing_slow_that_it_does_not_need() -> None:
    loaded = loaded_by("jobgate", "review", "-", text=SOUND)
    assert {"jobgate.offline.judge", "msgspec"} <= loaded
    assert loaded & SLOW == set()
    assert [name for name in loaded if ":" in name] == []


def test_a_process_that_ends_early_has_written_everything() -> None:
    text = "---\n".join([BROKEN] * 500)
    command = [sys.executable, "-m", "jobgate", "review", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, review("-", text=text).stdout)
    assert done.stdout.endswith("500 errors, 0 warnings\n")


def test_another_pydantic_may_ask_for_more_than_its_plugins() -> None:
    program = (
        "from jobgate.__main__ import load_no_plugins as start; start(); import sys, pydantic.plugin as plugin;"
        "from pydantic.plugin._loader import get_plugins; assert not [*get_plugins('any')];"
        "assert 'importlib.metadata' not in sys.modules;"
        "from pydantic.plugin._loader import PYDANTIC_ENTRY_POINT_GROUP as group; print(group)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("pydantic\n", "")


def test_the_linter_defines_no_dataclasses() -> None:
    loaded = loaded_by("crdgen", "lint", "manifests/chart/jobgate/files/crds/batch.volcano.sh_jobs.yaml")
    assert "crdgen.lint" in loaded
    assert [name for name in loaded if ":" in name] == []


@pytest.mark.parametrize("file", sorted(EXAMPLES.rglob("*.yaml")), ids=lambda file: file.stem)
def test_the_patch_makes_of_the_written_object_the_one_that_would_be_stored(file: Path) -> None:
    written = yaml.safe_load(file.read_text())
    (entry,) = entries(str(file))
    assert jsonpatch.apply_patch(written, entry["patch"]) == entry["object"]
    assert list(entry) == [
        "file",
        "index",
        "apiVersion",
        "kind",
        "name",
        "reviewed",
        "allowed",
        "status",
        "warnings",
        "patch",
        "object",
        "findings",
    ]
    assert (entry["file"], entry["index"], entry["name"]) == (str(file), 0, written["metadata"]["name"])
    assert entry["allowed"] is (file.parent.name != "broken") is (entry["status"] is None)


@pytest.mark.parametrize("file", sorted((EXAMPLES / "broken").glob("*.yaml")), ids=lambda file: file.stem)
def test_a_broken_example_is_denied_as_it_announces(file: Path) -> None:
    causes = entries(str(file))[0]["status"]["details"]["causes"]
    compare(file, [f"{cause['field']}: {cause['message']}" for cause in causes])


def test_json_and_yaml_say_the_same() -> None:
    assert yaml.safe_load(review("-o", "yaml", "-", text=SOUND).stdout) == entries("-", text=SOUND)


def test_an_unknown_field_is_pruned_and_told() -> None:
    (entry,) = entries("-", text=SOUND.replace("image: ding", "image: ding, imagePullPolciy: Always"))
    assert entry["allowed"]
    assert entry["warnings"] == [
        "spec.tasks[0].template.spec.containers[0].imagePullPolciy: unknown field: rejected by kubectl, "
        "dropped for other clients: did you mean imagePullPolicy?"
    ]
    assert {"op": "remove", "path": "/spec/tasks/0/template/spec/containers/0/imagePullPolciy"} in entry["patch"]


def test_yaml_is_read_as_kubectl_reads_it() -> None:
    (entry,) = entries("-", text=SOUND.replace("spec:\n", "spec:\n  preemptible: n\n  backoffLimit: 1e1\n", 1))
    assert (entry["object"]["spec"]["preemptible"], entry["object"]["spec"]["backoffLimit"]) == (False, 10)


def test_a_key_that_stands_twice_is_told() -> None:
    (entry,) = entries("-", text=SOUND.replace("metadata: {name: job}", "metadata: {name: job, name: other}"))
    assert entry["name"] == "other"
    assert entry["warnings"] == ["metadata.name: duplicate key; kubectl silently uses the last one"]


def test_an_object_of_another_kind_is_passed_over() -> None:
    (entry,) = entries("-", text="apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    assert (entry["reviewed"], entry["allowed"], entry["patch"]) == (False, True, [])
    (warning,) = entry["warnings"]
    assert warning.startswith("not reviewed; known kinds: diengine.opendilab.org/v2alpha1 DIJob, ")


@pytest.mark.parametrize(
    ("identity", "fault"),
    [
        ("apiVersion: diengine.opendilab.org/v2alpha1\nkind: DiJob", '"DiJob": is not a kind of diengine.opendilab'),
        ("apiVersion: diengine.opendilab.org/v3\nkind: DIJob", '"DIJob": is not a kind of diengine.opendilab.org/v3'),
        (
            "apiVersion: diengine.opendilab.com/v2alpha1\nkind: DIJob",
            "is not a kind of diengine.opendilab.com/v2alpha1",
        ),
        ("apiVersion: ray.io/v1\nkind: Raycluster", 'kind: Invalid value: "Raycluster": must be RayCluster'),
        ("apiVersion: diengine.opendilab.org/v1alpha1\nkind: DIJob\nspec: {coordinator: {}}", "`jobgate convert`"),
    ],
)
def test_what_was_meant_as_a_job_of_ours_is_denied(identity: str, fault: str) -> None:
    (entry,) = entries("-", text=f"{identity}\nmetadata: {{name: a}}\n")
    assert fault in entry["status"]["message"]


def test_another_version_of_a_kind_of_the_catalogue_is_noted() -> None:
    done = review("-", text="apiVersion: ray.io/v9\nkind: RayCluster\nmetadata: {name: a}\n")
    assert "<stdin>:1: not reviewed: RayCluster of ray.io/v9 is not described, but of ray.io/v1" in done.output


def test_on_an_update_what_was_stored_so_is_a_warning(tmp_path: Path) -> None:
    old = tmp_path / "old.yaml"
    old.write_text(BROKEN)
    (entry,) = entries("--old", str(old), "-", text=BROKEN.replace("spec:\n", "spec:\n  priority: high\n", 1))
    assert entry["allowed"]
    assert entry["warnings"] == [
        "spec.tasks[0].name: Required value: must be set for a task of type none (already stored; not enforced)"
    ]
    (entry,) = entries("--old", str(old), "-", text=BROKEN.replace("spec:\n", "spec:\n  minReplicas: 9\n", 1))
    assert [cause["field"] for cause in entry["status"]["details"]["causes"]] == ["spec.minReplicas"]


def test_an_update_of_an_object_that_is_not_stored_is_reviewed_as_new(tmp_path: Path) -> None:
    old = tmp_path / "old.yaml"
    old.write_text(SOUND.replace("name: job", "name: other"))
    (entry,) = entries("--old", str(old), "-", text=BROKEN)
    assert not entry["allowed"]
    assert entry["warnings"][0].startswith("reviewed as a new object")


@pytest.mark.parametrize(
    "arguments, metadata, allowed",
    [
        ([], "name: job, namespace: two", True),
        ([], "name: job, namespace: one", False),
        ([], "name: job, namespace: three", False),
        (["-n", "two"], "name: job", True),
        (["-n", "one"], "name: job", False),
    ],
)
def test_an_update_is_compared_with_the_object_of_its_namespace(
    arguments: list[str], metadata: str, allowed: bool, tmp_path: Path
) -> None:
    old = tmp_path / "old.yaml"
    one, two = (text.replace("job}", f"job, namespace: {name}}}") for text, name in ((SOUND, "one"), (BROKEN, "two")))
    old.write_text(f"{one}---\n{two}")
    text = BROKEN.replace("name: job", metadata).replace("spec:\n", "spec:\n  priority: high\n", 1)
    (entry,) = entries("--old", str(old), *arguments, "-", text=text)
    assert entry["allowed"] is allowed


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--operation", "UPDATE", "-"], "requires the stored objects: --old FILE"),
        (["--operation", "CREATE", "--old", "x", "-"], "--old requires --operation UPDATE"),
        ([], "Missing argument"),
    ],
)
def test_arguments_that_do_not_fit_are_told(arguments: list[str], message: str) -> None:
    result = review(*arguments, text=SOUND)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_file_that_cannot_be_read_is_named_with_its_place(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("apiVersion: b\n c: d\n")
    result = review(str(broken), str(tmp_path / "missing.yaml"))
    assert result.exit_code == 2
    assert f"{broken}:2:" in result.stderr
    assert f"{tmp_path / 'missing.yaml'}: error: No such file" in result.stderr


def test_of_a_folder_the_files_are_read_that_kubectl_reads(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yml", "c.json", "d.txt", "inner/e.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(yaml.safe_load(SOUND)))
    assert [Path(entry["file"]).name for entry in entries(str(tmp_path))] == ["a.yml", "b.yaml", "c.json"]
    assert len(entries("-R", str(tmp_path))) == 4
    (tmp_path / "b.yaml").write_text("apiVersion: [")
    result = review(str(tmp_path))
    assert (result.exit_code, result.stdout.count("allowed")) == (2, 2)
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/link.yaml").symlink_to("nothing")
    assert review(str(tmp_path / "empty")).stderr.startswith(f"{tmp_path}/empty/link.yaml: error: No such file")


def test_a_folder_that_cannot_be_read_is_told_as_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    result = review(str(tmp_path))
    assert (result.exit_code, result.stderr) == (2, f"{tmp_path}: error: Permission denied [unreadable]\n")


@pytest.mark.parametrize(
    "arguments, near",
    [(["reviews"], "review"), (["certs", "issues"], "issue"), (["review", "--namspace"], "--namespace")],
)
def test_a_mistyped_command_or_option_has_a_suggestion(arguments: list[str], near: str) -> None:
    assert f"Did you mean '{near}'?" in CliRunner().invoke(main, arguments).stderr


def test_an_installation_says_what_its_operator_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = SOUND.replace("spec:\n", "spec:\n  preemptible: true\n", 1)
    assert review("-", text=text).exit_code == 1
    assert review("--operator-can", "dijobs/preemptible", "-", text=text).exit_code == 0
    config = tmp_path / "jobgate.yaml"
    config.write_text("operator-can: [dijobs/preemptible]\n")
    result = CliRunner().invoke(main, ["--config", str(config), "review", "-"], input=text)
    assert result.exit_code == 0, result.output
    monkeypatch.setenv("JOBGATE_OPERATOR_CAN", "dijobs/preemptible")
    assert review("-", text=text).exit_code == 0


@pytest.mark.parametrize("content", ["prot: 9443\n", "- a\n", "a: [\n"])
def test_settings_that_are_none_are_told(tmp_path: Path, content: str) -> None:
    config = tmp_path / "jobgate.yaml"
    config.write_text(content)
    result = CliRunner().invoke(main, ["--config", str(config), "review", "-"], input=SOUND)
    assert result.exit_code == 2
    assert str(config) in result.stderr
    assert ("prot (did you mean port?)" in result.stderr) is ("prot" in content)


NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata: {name: default, labels: {pod-security.kubernetes.io/enforce: restricted}}
---
"""


def test_a_namespace_in_the_files_holds_its_jobs_to_its_pod_security_level() -> None:
    result = review("-", text=NAMESPACE + SOUND)
    assert result.exit_code == 1, result.output
    assert "securityContext.runAsNonRoot: Required value: must be true" in result.output
    assert "<stdin>:1: not reviewed; its labels count for the objects in it" in result.stderr
    assert review("--namespace", "other", "-", text=NAMESPACE + SOUND).exit_code == 0


@pytest.mark.parametrize("level, code", [("privileged", 0), ("baseline:v1.34", 0), ("restricted", 1)])
def test_a_namespace_without_the_label_has_the_level_of_the_option(level: str, code: int) -> None:
    warns = NAMESPACE.replace("enforce: restricted", "warn: privileged")
    assert review("--pod-security", level, "-", text=SOUND).exit_code == code
    assert review("--pod-security", level, "-", text=warns + SOUND).exit_code == code
    assert review("--pod-security", level, "-", text=NAMESPACE + SOUND).exit_code == 1


@pytest.mark.parametrize(
    "level, fault",
    [
        ("strict", "'strict' must be one of privileged, baseline, restricted"),
        ("baseline:v1.20", "'v1.20' must be v1.25 or later"),
    ],
)
def test_a_level_that_is_not_known_is_rejected(level: str, fault: str) -> None:
    result = review("--pod-security", level, "-", text=SOUND)
    assert result.exit_code == 2
    assert fault in result.output


def test_nothing_in_a_file_reaches_the_terminal_as_it_is() -> None:
    evil = '"a\\u001b[31m\\n\\u202eb"'
    text = SOUND.replace("name: job", f"name: {evil}").replace("type: learner", f"{evil}: 1\n    {evil}: 2")
    text = text.replace("kind: DIJob\n", f"kind: DIJob\n{evil}: 1\n")
    lines = review("-", text=text).stdout.splitlines()
    assert any(line.startswith("<stdin>:4:18: error: DIJob a\\u001b[31m\\n\\u202eb: metadata.name: ") for line in lines)
    assert any("unknown field" in line for line in lines)
    assert any("duplicate key" in line for line in lines)
    assert all(line.isprintable() for line in lines)
