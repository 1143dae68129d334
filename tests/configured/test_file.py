"""Files with entries: messages name the fault, its place and its fix."""

import json
from pathlib import Path
from typing import Any

import pytest

from crdgen.reading.entries import InvalidEntries
from jobgate.configured.catalogue import named_in_catalogue
from jobgate.configured.entry import Entry
from jobgate.configured.file import read_entries
from jobgate.configured.tasks import elements, template_of

VALID = """\
group: example.com
versions: [v1]
kind: Training
plural: trainings
operator: {name: the operator}
tasks:
- each: .spec.roles
  name: name
  template: template
"""


LIKE_RAY = """\
group: example.com
versions: [v1]
kind: Training
plural: trainings
like: rayclusters.ray.io
moved: {.spec: .spec.cluster}
members: null
"""


def test_a_kind_takes_the_fields_of_another_with_the_paths_of_its_own() -> None:
    (entry,), (ray,) = read_entries(LIKE_RAY.encode(), "kinds.yaml"), named_in_catalogue("rayclusters.ray.io")
    assert (entry.kind, entry.operator, entry.members) == ("Training", ray.operator, None)
    assert [source.at or source.each for source in entry.tasks] == [
        ".spec.cluster.headGroupSpec",
        ".spec.cluster.workerGroupSpecs",
    ]
    assert entry.tasks[1].replicas == ray.tasks[1].replicas
    assert entry.fields_.paths == {
        "queue": ".metadata.labels[kueue.x-k8s.io/queue-name]",
        "suspend": ".spec.cluster.suspend",
    }


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("rayclusters.ray.io", "rayclusters", "like: must be a kind of the catalogue: "),
        ("rayclusters.ray.io", "[a]", "like: must be a kind of the catalogue: "),
        ("{.spec: .spec.cluster}", "[.spec]", "kinds.yaml:6: moved: must be a mapping"),
        ("{.spec: .spec.cluster}", "{spec: .spec.cluster}", "kinds.yaml:6: moved.spec: must be a path"),
        ("{.spec: .spec.cluster}", "{.spec: [a]}", "kinds.yaml:6: moved"),
    ],
)
def test_a_wrong_reference_to_another_kind_names_line_field_and_fix(old: str, new: str, fault: str) -> None:
    with pytest.raises(InvalidEntries) as raised:
        read_entries(LIKE_RAY.replace(old, new).encode(), "kinds.yaml")
    assert fault in str(raised.value), raised.value


def test_a_short_file_is_enough() -> None:
    (entry,) = read_entries(VALID.encode(), "kinds.yaml")
    assert entry.name == "trainings.example.com"
    assert entry.tasks[0].replicas == 1


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("plural:", "plurals:", "kinds.yaml:4: plurals: is unknown: did you mean plural?"),
        ("plural: trainings\n", "", "kinds.yaml:1: plural: is missing: add it"),
        ("group: example.com\n", "", "kinds.yaml:1: group: is missing: add it"),
        (
            "tasks:",
            "names: [{of: pods, pattern: '{job}-{index}}'}]\ntasks:",
            "names[0].pattern: stray brace (Single '}'",
        ),
        ("{name: the operator}", "{name: o, podName: '{job}}'}", "kinds.yaml:5: operator.podName: stray brace"),
        ("{name: the operator}", "{name: o, podName: '{hash}'}", "must be one of {index}, {job}, {task}"),
        ("kind: Training", "kind: training", "kinds.yaml:3: kind: "),
        ("each: .spec.roles", "each: spec.roles", "kinds.yaml:7: tasks[0].each: must be a path"),
        ("each: .spec.roles", "replicas: 1", "kinds.yaml:7: tasks[0]: must have one of at and each"),
        ("  name: name", "  replicas: {default: 1}", "kinds.yaml:8: tasks[0].replicas: must have one of path, times"),
        (
            "template: template",
            "pod: [{to: spec.volume, value: 1}]",
            "pods have no field volume there: must be as spec.",
        ),
        ("template: template", "pod: [{to: 'spec.containers[*].name', value: a}]", "pods have no field * there"),
        ("template: template", "pod: [{to: spec}]", "kinds.yaml:9: tasks[0].pod[0]: must have path, value, or both"),
        ("template: template", "pod: [{to: spec, path: a, value: b}]", "or both with a mapping of fields as value"),
        ("  name: name", "  replica: 2", "kinds.yaml:8: tasks[0].replica: is unknown: did you mean replicas?"),
        (
            "{name: the operator}",
            "{name: the operator, kubernetes: 1.31}",
            "kinds.yaml:5: operator.kubernetes: must be a text: quote it",
        ),
        ("tasks:", "names: [{of: pods, pattern: '{jbo}'}]\ntasks:", "unknown placeholder {jbo}: must be one of {hash}"),
        ("tasks:", "tasks: [", "kinds.yaml:"),
        ("  name: name", "  name: {keys: lower}", "kinds.yaml:8: tasks[0].name.keys: is unknown: did you mean key?"),
        ("versions: [v1]", "versions: v1", "kinds.yaml:2: versions: must be a list"),
        (VALID, "", "kinds.yaml: contains no kind"),
        (VALID, "- 1", "kinds.yaml:1: the file: must be a mapping"),
    ],
)
def test_a_fault_names_line_field_and_what_would_be_right(old: str, new: str, fault: str) -> None:
    with pytest.raises(InvalidEntries) as error:
        read_entries(VALID.replace(old, new).encode(), "kinds.yaml")
    assert fault in str(error.value)


def test_all_faults_of_a_file_are_reported() -> None:
    with pytest.raises(InvalidEntries) as error:
        read_entries((VALID.replace("plural:", "plurals:") + "---\nkind: 1\n").encode(), "kinds.yaml")
    lines = str(error.value).splitlines()
    assert [line.split(":")[1] for line in lines] == ["1", "4", *["11"] * 6]


def test_the_published_schema_is_that_of_the_format() -> None:
    published = json.loads(Path("docs/reference/kind.schema.json").read_text(encoding="utf-8"))
    assert published == Entry.model_json_schema(by_alias=True), "run `python -m tools.configured_schema`"


ASSEMBLED = """
tasks:
- at: .spec
  name: {value: main}
  pod:
  - {to: "spec.containers[0].name", value: main}
  - {to: "spec.initContainers[]", path: loader, value: {name: loader}}
  - {to: "spec.initContainers[]", path: more, value: {image: own}}
"""


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, None),
        ({"loader": {"image": "a"}}, [{"name": "loader", "image": "a"}]),
        (
            {"more": [{"name": "b"}, {"name": "c", "image": "d"}]},
            [{"name": "b", "image": "own"}, {"name": "c", "image": "d"}],
        ),
        ({"more": [1]}, [1]),
    ],
)
def test_what_an_operator_adds_to_a_container_is_there_only_with_the_container(
    spec: dict[str, Any], expected: list[Any] | None
) -> None:
    (entry,) = read_entries((VALID.partition("tasks:")[0] + ASSEMBLED).encode(), "kinds.yaml")
    (element,) = elements(entry, {"spec": spec})
    pod = template_of(entry, element).value["spec"]
    assert (pod["containers"], pod.get("initContainers")) == ([{"name": "main"}], expected)
