"""Marketplace items and jobs of OpenPAI, in all of their spellings."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from jobgate.cli import main
from jobgate.importing import ImportedKind, InvalidDocument, imported
from tests.prerequisites.script_shells import argv_of, run

FOLDER = Path(__file__).parent
CMD = "plugin: cmd\nplugin_params: {callbacks: [{event: taskStarts, commands: [make]}]}"
STARTS = {"callbacks": [{"event": "taskStarts", "commands": ["make"]}]}
JOB: dict[str, Any] = {
    "name": "job",
    "prerequisites": [{"type": "dockerimage", "name": "image", "uri": "example.org/image"}],
    "taskRoles": {
        "worker": {
            "dockerImage": "image",
            "resourcePerInstance": {"cpu": 1, "memoryMB": 8, "gpu": 0},
            "commands": ["a"],
        }
    },
}


def job(role: dict[str, Any] | None = None, **fields: Any) -> str:
    worker = {**JOB["taskRoles"]["worker"], **(role or {})}
    return yaml.safe_dump({**JOB, "taskRoles": {"worker": worker}, **fields})


def objects(text: str, target: ImportedKind | None = None) -> list[dict[str, Any]]:
    result = list(imported(text, "job.yaml", target))
    assert [fault for each in result for fault in each.faults] == []
    return [document for entry in result for document in entry.objects]


def faults(text: str) -> list[str]:
    return [fault for each in imported(text, "job.yaml") for fault in each.faults]


def changes(text: str) -> str:
    return "\n".join(change for each in imported(text, "job.yaml") for change in each.changes)


@pytest.mark.parametrize("name", ["marketplace", "job-mnist", "job-imagenet", "job-debug_hook"])
def test_the_examples_of_the_design_are_imported_as_a_whole(name: str) -> None:
    done = CliRunner().invoke(main, ["import", "openpai", f"{FOLDER}/openpai/{name}.yaml"])
    assert done.exit_code == 0
    assert done.stdout.replace(str(FOLDER), ".") == (FOLDER / "openpai" / "golden" / f"{name}.yaml").read_text()


@pytest.mark.parametrize(
    ("item", "field", "expected"),
    [
        (CMD, "cmd", STARTS),
        ("plugin: cmd\npluginParams: {callbacks: [{event: taskStarts, commands: [' make ']}]}", "cmd", STARTS),
        (
            "plugin: com.microsoft.pai.runtimeplugin.cmd\ncallbacks: [{event: taskStarts, commands: [make]}]",
            "cmd",
            STARTS,
        ),
        ("plugin: com.microsoft.pai.runtimeplugin.cmd\npreCommands: [make]", "cmd", STARTS),
        (
            "plugin: pvc_storage\nplugin_params: {name: a, mountPath: /b}",
            "pvcStorage",
            {"name": "a", "mountPath": "/b"},
        ),
        ("requireStorages: [{name: a, mountPath: /b}]", "pvcStorage", {"name": "a", "mountPath": "/b"}),
        ("require: [marketplace://name/A_b]", "require", [{"kind": "ClusterPrerequisite", "name": "a-b"}]),
        ("require: [other]", "require", [{"kind": "ClusterPrerequisite", "name": "other"}]),
        (
            "require: [{name: marketplace://name/a, template_variables: {x: 30}}]",
            "require",
            [{"kind": "ClusterPrerequisite", "name": "a", "templateVariables": {"x": 30}}],
        ),
        ("template_variables: [{name: a}, b]", "templateVariables", [{"name": "a"}, {"name": "b"}]),
        (f"failurePolicy: ignore\n{CMD}", "failurePolicy", "Ignore"),
        (f"failure_policy: Ignore\n{CMD}", "failurePolicy", "Ignore"),
    ],
)
def test_items_are_read_in_every_spelling(item: str, field: str, expected: Any) -> None:
    (result,) = objects(f"name: item\n{item}")
    assert (result["kind"], result["spec"][field]) == ("ClusterPrerequisite", expected)


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("mountPath: {{ mountPath }}", 'mountPath: "{{ mountPath }}"'),
        ("a: {{ x }}/y  # there", 'a: "{{ x }}/y"'),
        ("- {{ a }} b", '- "{{ a }} b"'),
        ('- {{ a }} "b"', '- "{{ a }} \\"b\\""'),
        ("- - name: {{ a }}", '- - name: "{{ a }}"'),
    ],
)
def test_placeholders_without_quotes_are_rejected_with_their_line(line: str, right: str) -> None:
    with pytest.raises(InvalidDocument) as raised:
        list(imported(f"# one\n{line}\n", "item.yaml"))
    assert str(raised.value).startswith("item.yaml:2: ")
    assert str(raised.value).endswith(f"write: {right}")


@pytest.mark.parametrize("text", ["- cp {{ a }}", "- '{{ a }}'", "- |\n  {{ a }}\n  {{ b }} c", "a: 'x'\n# {{ a }}"])
def test_placeholders_that_are_texts_need_no_quotes(text: str) -> None:
    item = f"name: x\ntemplate_variables: [a, b]\ntype: |\n  {{{{ a }}}}\nrest:\n  {text}".replace("\n  - ", "\n- ")
    assert faults(item) == []


@pytest.mark.parametrize(
    ("text", "where", "right"),
    [
        ("name: x\nplugin: ssh", "x.plugin", "cmd and pvc_storage"),
        (f"name: x\n{CMD.replace('taskStarts', 'taskEnds')}", "event", "taskFails"),
        ("name: x\nplugin: cmd\ncallbacks: [{event: taskFails, commands: [{a: b}]}]", "commands[0]", "quotes"),
        ("name: x\nplugin: cmd\ncallbacks: [{event: taskFails}]", "commands", "at least one"),
        ("name: x\nplugin: cmd\npreCommands: [a]\ncallbacks: [{event: taskFails, commands: [a]}]", "x", "one of them"),
        ("name: x\nrequire: [marketplace://prerequisites/itemId/4]", "require[0]", "marketplace://name/"),
        ("name: x\nrequire: [https://example.org/item]", "require[0]", "not fetched"),
        ("name: x\nrequire: a", "x.require", "list"),
        ("name: x\nrequireStorages: [{name: a}, {name: b}]", "requireStorages", "an item of each"),
        ("name: x\nfailurePolicy: maybe", "failurePolicy", '"Fail", "Ignore"'),
        ("name: x\nplugin: cmd\ncallbacks: [{event: taskFails, commands: ['{{ a }}']}]", "commands[0]", "templateVariables"),
        ("name: x\nplugin: pvc_storage\nplugin_params: {mountPath: /a}", "plugin_params.name", "PersistentVolumeClaim"),
        ("plugin: cmd", "name", "must be a name"),
        ("name: '...'", "name", "letter or digit"),
        (job(prerequisites=[]), "dockerImage", "dockerimage"),
        (job({"prerequisites": ["a"]}), "prerequisites[0]", "it has: none"),
        (job({"commands": ["<% $secrets.a %>"]}), "commands", "secretKeyRef"),
        (job({"commands": ["<% $parameters.a %>"]}), "commands", "no such parameter"),
        (job({"commands": []}), "commands", "at least one"),
        (job({"instances": 0}), "instances", "at least 1"),
        (job({"resourcePerInstance": {"cpu": 1}}), "memoryMB", "integer"),
        (job(taskRoles={}), "taskRoles", "at least one"),
        (job({"completion": {"minFailedInstances": []}, "instances": []}), "instances", "integer"),
        (job(jobRetryCount="x"), "jobRetryCount", "integer"),
        (job({"extraContainerOptions": {"shmMB": "x"}}), "shmMB", "integer"),
        (job(extras={"storages": [{"name": "a", "mountPath": 1}]}), "mountPath", "a path"),
        (job(extras={"storages": [{"name": "a", "mountPath": "/dev/shm"}]}), "mountPath", "/dev/shm"),
        (job(extras={"reference_prerequisites": [{"name": "image"}]}), "reference_prerequisites[0].name", "twice"),
        (job(extras={"reference_prerequisites": [{"name": "a", "require": ["b"]}]}), "require[0]", "marketplace://name/b"),
    ],
)  # fmt: skip
def test_what_cannot_be_imported_is_reported_with_what_would_be_right(text: str, where: str, right: str) -> None:
    assert any(where in fault and right in fault for fault in faults(text)), faults(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (job(secrets={"key": "hidden"}), "the job: not imported: secrets"),
        (
            job({"completion": {"minFailedInstances": -1}, "taskRetryCount": 2}),
            "not imported: completion, taskRetryCount",
        ),
        (
            job(extras={"com.microsoft.pai.runtimeplugin": [{"plugin": "ssh"}]}),
            "extras: not imported: com.microsoft.pai.runtimeplugin",
        ),
        (job(deployments=[{"name": "a"}]), "deployments"),
        (job({"commands": ["echo $PAI_TASK_INDEX"]}), "VC_TASK_INDEX"),
        (job(surprise=1), "the job: not imported: surprise"),
        ("name: x\ntags: [a]", "x: not imported: tags"),
    ],
)
def test_what_is_left_out_is_reported(text: str, expected: str) -> None:
    assert expected in changes(text)


def test_nothing_of_a_secret_is_written() -> None:
    image = [{**JOB["prerequisites"][0], "auth": {"password": "hidden"}}]
    (result,) = imported(job(secrets={"key": "hidden"}, prerequisites=image), "job.yaml")
    assert "hidden" not in repr(result)


def test_a_job_of_one_task_role_is_a_job() -> None:
    text = job({"commands": ["echo $A", " b "], "instances": 3}, extras={"storages": [{"name": "my.claim"}]})
    (result,) = objects(text)
    spec = result["spec"]["template"]["spec"]
    assert (result["apiVersion"], result["kind"], result["spec"]["completions"]) == ("batch/v1", "Job", 3)
    assert spec["containers"][0]["command"] == ["/bin/bash", "-euo", "pipefail", "-c", "echo $$A\nb"]
    assert spec["containers"][0]["resources"] == {"limits": {"cpu": "1", "memory": "8Mi"}}
    assert spec["volumes"][0] == {"name": "my-claim-volume", "persistentVolumeClaim": {"claimName": "my.claim"}}
    assert spec["containers"][0]["volumeMounts"][0] == {"name": "my-claim-volume", "mountPath": "/mnt/my.claim"}


@pytest.mark.parametrize(
    ("commands", "code"),
    [
        (["echo it's fine"], 2),
        (["a='$x'", 'test "$a" = "\\$x"'], 0),
        (["echo $NO_SUCH_VARIABLE"], 1),
        (["false | cat"], 1),
        (["false", "exit 0"], 1),
        (["cd /", 'test "$PWD" = /'], 0),
        (["exit 42"], 42),
        (["no-such-program"], 127),
    ],
)
def test_commands_run_as_in_openpai_with_errexit_nounset_and_pipefail(commands: list[str], code: int) -> None:
    (result,) = objects(job({"commands": commands}))
    container = result["spec"]["template"]["spec"]["containers"][0]
    assert run(argv_of(container, {"x": "no"})).returncode == code


@pytest.mark.parametrize(
    "value", ["it's", "x', 'touch owned", 'a "b"', "x; id", "two\nlines", "<% $parameters.other %>"]
)
def test_a_parameter_is_put_into_its_command_as_it_is_and_makes_no_other(value: str) -> None:
    text = job({"commands": ["echo <% $parameters.x %>", "true"]}, parameters={"x": value, "other": "no"})
    (result,) = objects(text)
    script = result["spec"]["template"]["spec"]["containers"][0]["command"][-1]
    assert script == f"echo {value}\ntrue".replace("$", "$$")


def test_a_job_of_several_task_roles_is_a_dijob_or_on_request_several_jobs() -> None:
    roles = {"ps_server": JOB["taskRoles"]["worker"], "worker": JOB["taskRoles"]["worker"]}
    text = job(taskRoles=roles, jobRetryCount=2, defaults={"virtualCluster": "vc1"})
    (dijob,) = objects(text)
    assert [task["name"] for task in dijob["spec"]["tasks"]] == ["ps-server", "worker"]
    assert (dijob["spec"]["backoffLimit"], dijob["spec"]["queue"]) == (2, "vc1")
    assert [each["metadata"]["name"] for each in objects(text, ImportedKind.JOB)] == ["job-ps-server", "job-worker"]


def test_what_a_job_defines_for_itself_is_a_prerequisite_that_its_tasks_name() -> None:
    local = [*JOB["prerequisites"], {"name": "Fetch_it", "type": "script", "plugin": "cmd", **STARTS}]
    binding = [{"name": "data", "require": ["Fetch_it", "marketplace://name/data"]}]
    text = job(
        {"prerequisites": ["data", "data", "image"]}, prerequisites=local, extras={"reference_prerequisites": binding}
    )
    fetch, data, made = objects(text)
    assert (fetch["kind"], fetch["metadata"]["name"]) == ("Prerequisite", "job-fetch-it")
    assert data["spec"]["require"] == [
        {"kind": "Prerequisite", "name": "job-fetch-it"},
        {"kind": "ClusterPrerequisite", "name": "data"},
    ]
    assert made["spec"]["template"]["metadata"]["annotations"] == {"jobgate.dev/prerequisites": "job-data"}
    (task,) = objects(text, ImportedKind.DIJOB)[-1]["spec"]["tasks"]
    assert task["prerequisites"] == [{"name": "job-data"}]


@pytest.mark.parametrize(
    "text", ["a: [", "a: &a [*a]\n? {b: c}\n: d", "text", "[1]", "apiVersion: v1\nkind: Pod", "\x00", "- " * 9000 + "a"]
)
def test_what_is_nothing_of_openpai_is_rejected(text: str) -> None:
    with pytest.raises(InvalidDocument):
        list(imported(text, "file.yaml"))


def test_the_command_says_all_faults_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("name: x\nplugin: a\n---\nname: z\nplugin: b\n")
    (tmp_path / "b.yaml").write_text("a: {{ b }}\n")
    files = [str(tmp_path / name) for name in ("a.yaml", "b.yaml", "none.yaml")]
    done = CliRunner().invoke(main, ["import", "openpai", *files, "--output-file", str(tmp_path / "out")])
    assert (done.exit_code, done.stdout, (tmp_path / "out").exists()) == (2, "", False)
    assert len(done.stderr.splitlines()) == 4


def test_a_file_that_cannot_be_read_is_reported_once(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["import", "openpai", str(tmp_path)])
    assert (result.exit_code, result.stderr) == (2, f"{tmp_path}: Is a directory\n")


def test_the_command_writes_a_file_and_reads_standard_input(tmp_path: Path) -> None:
    out = tmp_path / "out.yaml"
    done = CliRunner().invoke(main, ["import", "openpai", "-", "--to", "DIJob", "--output-file", str(out)], input=job())
    assert done.exit_code == 0
    assert yaml.safe_load(out.read_text())["kind"] == "DIJob"


ITEM = "apiVersion: jobgate.dev/v1alpha1\nkind: Prerequisite\nspec:\n  pvcStorage:\n    mountPath: {{ path }}\n"
RAW = (FOLDER / "openpai" / "marketplace.yaml").read_text().replace('"{{ mountPath }}"', "{{ mountPath }}")


@pytest.mark.parametrize("command", ["review", "explain"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ((FOLDER / "openpai" / "marketplace.yaml").read_text(), "FILE: is an OpenPAI file; run: jobgate import openpai FILE"),
        ((FOLDER / "openpai" / "job-mnist.yaml").read_text(), "FILE: is an OpenPAI file; run: jobgate import openpai FILE"),
        (f"name: x\n{CMD}", "FILE: is an OpenPAI file; run: jobgate import openpai FILE"),
        (RAW, "FILE: is an OpenPAI file; run: jobgate import openpai FILE"),
        (ITEM, 'FILE:5: {{ … }} needs quotes, as YAML takes braces for a mapping; write: mountPath: "{{ path }}"'),
    ],
    ids=["items", "job", "an item", "items without quotes", "an item of ours without quotes"],
)  # fmt: skip
def test_what_is_of_openpai_or_lacks_quotes_is_reported_with_what_is_right(
    command: str, text: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "item.yaml"
    file.write_text(text)
    done = CliRunner().invoke(main, [command, str(file)])
    assert done.exit_code == 2
    said = said.replace(": ", ": error: ", 1) if command == "review" else said
    assert said.replace("FILE", str(file)) in done.stderr
    done = CliRunner().invoke(main, [command, "-"], input=text)
    assert done.exit_code == 2
    assert said.replace("FILE", "<stdin>", 1).replace("FILE", "-") in done.stderr
