"""`jobgate explain`: the pods of each task, with where each part comes from."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from jobgate.cli import main

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
IMPORTED = FOLDER.parent / "importing" / "openpai" / "golden"
MARKETPLACE = IMPORTED / "marketplace.yaml"
EXAMPLES = [
    path for path in sorted(ROOT.glob("examples/*/*.yaml")) if not {"own-kind", "prerequisites"} & set(path.parts)
]


def run(*arguments: str | Path, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["explain", *map(str, arguments)], input=stdin)


def rows(*documents: Mapping[str, Any], code: int = 0) -> list[tuple[str, str, str, str]]:
    """Return the parts of the first task of the first object: container, field, text, source."""
    done = run("-", "--output", "json", stdin=yaml.safe_dump_all(documents))
    assert done.exit_code == code, done.stderr
    (task, *_) = json.loads(done.stdout)[0]["pods"]
    return [(one["container"], one["field"], one["text"], one["source"]) for one in task["parts"]]


def pod(**container: Any) -> dict[str, Any]:
    name = {"jobgate.dev/prerequisites": "item"}
    spec = {"containers": [{"name": "a", "image": "b", **container}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod", "annotations": name}, "spec": spec}


def item(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "jobgate.dev/v1alpha1", "kind": "Prerequisite", "metadata": {"name": "item"}, "spec": spec}


def callback(event: str, *commands: str) -> dict[str, Any]:
    return {"event": event, "commands": list(commands)}


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("mnist", [MARKETPLACE, IMPORTED / "job-mnist.yaml"]),
        ("imagenet", [MARKETPLACE, IMPORTED / "job-imagenet.yaml"]),
        ("debug_hook", [MARKETPLACE, IMPORTED / "job-debug_hook.yaml"]),
        ("imagenet-twice", [MARKETPLACE, FOLDER / "imagenet-twice.yaml"]),
        ("pod", sorted(ROOT.glob("examples/prerequisites/*.yaml"))),
        ("plugins", [ROOT / "examples" / "mxjob" / "plugins.yaml"]),
        ("volcano", [ROOT / "examples" / "vcjob" / "tensorflow.yaml"]),
    ],
)
def test_the_scenarios_are_explained_as_a_whole(name: str, files: list[Path]) -> None:
    done = run(*files)
    assert done.exit_code == 0
    assert done.stdout.replace(f"{ROOT}/", "") == (FOLDER / "golden" / f"{name}.txt").read_text()


def test_a_job_that_jobgate_runs_gets_from_it_what_its_operator_would_add() -> None:
    done = run("--run=jobs.batch.volcano.sh", ROOT / "examples" / "vcjob" / "tensorflow.yaml")
    assert "what the runner adds to pod templates is not shown: see jobgate render" in done.stdout
    assert "plugin run" not in done.stdout
    assert re.search(r"volcano.sh/task-index: 0 +# the runner", done.stdout)
    for found in ("VC_TASK_INDEX=0", "/etc/volcano: configMap tf-job-svc", "volcano.sh/task-index: 0"):
        assert found in done.stdout


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_example_is_explained_task_by_task(file: Path) -> None:
    done = run(file, "--output", "json")
    assert done.exit_code == 0
    for explained in json.loads(done.stdout):
        assert explained["pods"]
        for task in explained["pods"]:
            assert [one for one in task["parts"] if one["field"] == "command"]


def test_every_sort_of_block_names_its_item() -> None:
    brings = item(
        cmd={"callbacks": [callback("taskStarts", "a", "b"), callback("taskFails", "c")]},
        pvcStorage={"name": "claim", "mountPath": "/data", "subPath": "x"},
        fetch={"commands": ["d"], "pathVariable": "PATH_OF_DATA"},
        env=[{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
        failurePolicy="Ignore",
    )
    source, folder = "Prerequisite/item", "/data/item/0-527a5a0f3665adc8"
    assert rows(pod(command=["run"], args=["it all"], env=[{"name": "C", "value": "2"}]), brings) == [
        ("container a", "command", "fetch: d", f"{source}, failure ignored"),
        ("container a", "command", "taskStarts: a", f"{source}, failure ignored"),
        ("container a", "command", "taskStarts: b", f"{source}, failure ignored"),
        ("container a", "command", "run 'it all'", "template"),
        ("container a", "command", "taskFails: c", f"{source}, failure ignored"),
        ("container a", "env", f"PATH_OF_DATA={folder}/data", source),
        ("container a", "env", "A=1", source),
        ("container a", "env", "B from secret s k", source),
        ("container a", "env", "C=2", "template"),
        ("container a", "mounts", "/data: persistentVolumeClaim claim, subPath x", source),
    ]


def test_a_plugin_that_an_item_brings_names_the_item() -> None:
    job = yaml.safe_load((FOLDER / "imagenet-twice.yaml").read_text())
    job["spec"]["tasks"][0]["prerequisites"] = [{"name": "item"}]
    found = rows(job, item(plugin={"name": "env"}))
    assert ("container main", "env", "VC_TASK_INDEX=0", "plugin env of Prerequisite/item") in found
    job["spec"]["plugins"] = {"env": []}
    assert ("container main", "env", "VC_TASK_INDEX=0", "plugin env") in rows(job, item(plugin={"name": "env"}))


def test_a_job_that_the_runner_runs_says_so() -> None:
    job = yaml.safe_load((ROOT / "examples" / "dijob" / "minimal.yaml").read_text())
    job["status"] = {"jobgate": {"attempt": 0}}
    done = run("-", stdin=yaml.safe_dump(job))
    assert "what the runner adds to pod templates is not shown" in done.stdout
    assert "# the runner" in done.stdout


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        ({}, "(what the image runs)"),
        ({"args": ["a"]}, "(the image's entrypoint) a"),
        ({"command": ["a", "$(B)"]}, "a '$(B)'"),
    ],
)
def test_a_command_is_shown_as_a_shell_would_take_it(container: dict[str, Any], expected: str) -> None:
    document = {**pod(**container), "metadata": {"name": "pod"}}
    assert rows(document) == [("container a", "command", expected, "template")]


@pytest.mark.parametrize(
    ("kind", "wrap"),
    [
        ("Job", lambda template: {"template": template}),
        ("Deployment", lambda template: {"replicas": 2, "template": template}),
        ("CronJob", lambda template: {"jobTemplate": {"spec": {"template": template}}}),
    ],
)
def test_workloads_of_kubernetes_are_explained_by_their_template(kind: str, wrap: Any) -> None:
    template = {key: value for key, value in pod(command=["x"]).items() if key in {"metadata", "spec"}}
    document = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "w"}, "spec": wrap(template)}
    found = rows(document, item(cmd={"callbacks": [callback("taskStarts", "a")]}))
    assert ("container a", "command", "taskStarts: a", "Prerequisite/item") in found


@pytest.mark.parametrize(
    ("documents", "note"),
    [
        ([pod(command=["a"])], "not among the files, so not shown: Prerequisite item"),
        ([pod(), item(cmd={"callbacks": [callback("taskStarts", "a")]})], "CommandRequired"),
        ([pod(command=["a"]), item(templateVariables=[{"name": "x"}])], "MissingVariable: Prerequisite item"),
        ([pod(command=["a"]), item(require=[{"name": "other"}])], "Prerequisite other"),
        ([pod(command=["a"]), item(require=[{"name": "item"}])], "Cycle"),
        ([pod(command=["a"]), item(env=[{}])], "env[0].name"),
        ([{**pod(), "spec": {"containers": [{}]}}, item(env=[{"name": "A"}])], "UnknownContainer"),
    ],
)
def test_what_keeps_prerequisites_out_of_a_pod_is_said(documents: list[Any], note: str) -> None:
    done = run("-", stdin=yaml.safe_dump_all(documents))
    assert note in done.stdout


def test_a_job_that_would_be_denied_is_not_explained() -> None:
    done = run(ROOT / "examples" / "dijob" / "broken" / "four-faults.yaml")
    assert done.exit_code == 1
    assert ": denied\n  * spec.tasks[1].type: Duplicate value" in done.stdout


@pytest.mark.parametrize(
    "spec",
    [
        {"containers": [{"name": "a"}], "volumes": "x"},
        {"containers": "a"},
        "x",
        {"containers": [{"name": "a", "env": 1}]},
    ],
)
def test_a_pod_of_another_shape_breaks_nothing(spec: Any) -> None:
    done = run("-", stdin=yaml.safe_dump({**pod(), "spec": spec}))
    assert done.exit_code in {1, 2}
    assert done.exception is None or isinstance(done.exception, SystemExit)


def test_no_text_of_a_file_commands_the_terminal() -> None:
    document = pod(command=["\x1b[2J"], env=[{"name": "A\x07", "value": "\x1b]0;x\x07"}])
    assert not {"\x1b", "\x07"} & set(run("-", stdin=yaml.safe_dump(document)).stdout)
