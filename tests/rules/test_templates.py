"""Pods of a job: each made once, and equal ones judged once."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.kind import JobKind
from jobgate.kinds import installed
from jobgate.rules import templates
from jobgate.rules.templates import built_pods, judged, pod_template_rules
from webhook import Cause, Invalid, Notice, Path
from webhook.view import view

MAIN = {"name": "main", "image": "image"}


def job_of(kind: str, api_version: str, *specs: Mapping[str, Any], **fields: Any) -> Job[Any]:
    tasks = [{"name": f"t{index}", "replicas": 1, "template": {"spec": dict(spec)}} for index, spec in enumerate(specs)]
    document = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "job"},
        "spec": {"tasks": tasks, **fields},
    }
    result = installed().get(api_version, kind)
    assert isinstance(result, JobKind)
    return Job(result, document, view(result.spec, document["spec"])[0])


def vcjob(*specs: Mapping[str, Any]) -> Job[Any]:
    return job_of("Job", "batch.volcano.sh/v1alpha1", *specs)


def dijob(*specs: Mapping[str, Any], **fields: Any) -> Job[Any]:
    return job_of("DIJob", "diengine.opendilab.org/v2alpha1", *specs, **fields)


def spec(*args: str, **fields: Any) -> dict[str, Any]:
    return {"containers": [{**MAIN, "args": list(args)}], **fields}


class Seen:
    """A check that notes what it is asked of, and finds fault with the images of this name."""

    def __init__(self, image: str = "") -> None:
        self.image = image
        self.paths: list[str] = []

    def __call__(self, pod: Mapping[str, Any], path: Path) -> Iterator[Cause | Notice]:
        self.paths.append(str(path))
        if pod["spec"]["containers"][0]["image"] == self.image:
            yield Invalid(path / "image", self.image, "no")


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (vcjob(spec("a"), spec("a"), spec("a")), [0]),
        (vcjob(spec("a"), spec("b"), spec("a")), [0, 1]),
        (vcjob(spec("1"), {"containers": [{**MAIN, "args": [1]}]}), [0, 1]),
        (dijob(spec("a", restartPolicy="Never"), spec("a"), spec("a", hostname="x")), [0]),
    ],
    ids=["equal ones once", "others each", "a number is no text", "as the operator makes them"],
)
def test_equal_pods_are_judged_once(job: Job[Any], expected: list[int]) -> None:
    seen = Seen()
    assert not list(judged(job, Context(), seen))
    assert seen.paths == [f"spec.tasks[{index}].template" for index in expected]


def test_what_is_found_is_found_in_each_of_equal_templates() -> None:
    result = list(judged(vcjob(spec("a"), spec("a")), Context(), Seen("image")))
    assert [str(finding.path) for finding in result] == [f"spec.tasks[{index}].template.image" for index in (0, 1)]


def test_what_passes_is_not_judged() -> None:
    seen = Seen()
    assert not list(judged(vcjob(spec("a")), Context(), seen, passes=lambda built: built.plain))
    assert not seen.paths


def test_a_pod_is_built_once_for_all_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    original = templates._build

    def counted(*arguments: Any, keeps: bool) -> templates.BuiltPod:
        built.append(arguments[2].name)
        return original(*arguments, keeps=keeps)

    monkeypatch.setattr(templates, "_build", counted)
    job = vcjob(spec("a"), spec("b"))
    for rule in pod_template_rules:
        assert not list(rule(job, Context()))
    assert built == ["t0", "t1"]


@pytest.mark.parametrize(
    ("case", "template", "plain"),
    [
        ("an ordinary one", spec("a"), True),
        ("one with a field that is looked at", spec("a", dnsPolicy="None"), False),
        ("one with a newer field", spec("a", hostUsers=True), False),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_pod_says_what_is_to_be_looked_for(case: str, template: dict[str, Any], plain: bool) -> None:
    del case
    (built,) = built_pods(dijob(template), Context())
    assert built.plain == plain


def test_volumes_of_the_job_are_judged_with_the_first_template_and_where_they_are_named() -> None:
    volumes = [{"name": name, "emptyDir": {}} for name in "abc"]
    mounting = {"containers": [{**MAIN, "volumeMounts": [{"name": "b", "mountPath": "/b"}]}]}
    pods = list(built_pods(dijob(spec("x"), mounting, spec("y"), volumes=volumes), Context()))
    assert [list(built.job_volumes) for built in pods] == [[0, 1, 2], [1], []]
    assert [built.plain for built in pods] == [True, True, True]
