"""JobTemplates and JobFlows."""

from collections.abc import Mapping
from typing import Any

import pytest

from jobgate.jobs.context import Settings
from jobgate.kinds import installed
from jobgate.kinds.vcjob import VCJOB
from jobgate.kinds.vcjob.flow import JOBFLOW, JOBTEMPLATE
from jobgate.kinds.vcjob.flow.models import TEMPLATES
from jobgate.offline.files import FileObjects
from jobgate.offline.judge import ReviewOptions, judge
from tests.corpus import BROKEN, GOOD, jobs
from tests.kinds.reviews import Reviews, faults
from tests.kinds.vcjob.jobs import Queues, job, task
from webhook import Operation

FLOWS, TEMPLATE = Reviews(JOBFLOW), Reviews(JOBTEMPLATE)
KINDS = installed()


class Known:
    """A cluster with these JobTemplates, by name."""

    def __init__(self, **templates: Any) -> None:
        self._templates = templates

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        if resource != TEMPLATES:
            raise LookupError(resource)
        assert namespace == "default"
        return self._templates.get(name)


def flow(name: str, *targets: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, **({"dependsOn": {"targets": [*targets]}} if targets else {}), **fields}


def jobflow(*flows: Any, name: str = "train", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "flow.volcano.sh/v1alpha1",
        "kind": "JobFlow",
        "metadata": {"name": name},
        "spec": {"flows": [*flows], **spec},
    }


def as_template(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JobTemplate with the spec of a Volcano Job."""
    return {**document, "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate"}


VOLCANO_JOBS = [
    document for file in (*GOOD, *BROKEN) for document in jobs(file) if document["apiVersion"] == VCJOB.gvk.api_version
]


@pytest.mark.parametrize("runs", [frozenset(), frozenset({VCJOB.qualified_plural})], ids=["Volcano", "runner"])
@pytest.mark.parametrize("document", VOLCANO_JOBS, ids=lambda document: document["metadata"]["name"])
def test_a_template_has_the_faults_and_warnings_of_a_job_with_its_spec(
    document: dict[str, Any], runs: frozenset[str]
) -> None:
    options = ReviewOptions(kinds=KINDS, settings=Settings(runs=runs), objects=Queues())
    of_job, of_template = judge(document, options), judge(as_template(document), options)
    own = {"pod_names_are_short_enough", "pods_of_the_runner_have_host_names", "derived_objects_have_legal_names"}

    def findings(verdict: Any) -> set[str]:
        return {str(finding) for name, finding in verdict.findings if name not in own and "prerequisites" not in name}

    assert findings(of_template) == findings(of_job)
    assert of_job.findings or runs  # there is no queue, which matters to Volcano


def test_a_template_is_defaulted_except_for_what_follows_from_its_replicas() -> None:
    verdict = judge(as_template(job(task(replicas=3))), ReviewOptions(kinds=KINDS))
    spec, (made,) = verdict.document["spec"], verdict.document["spec"]["tasks"]
    assert (spec["queue"], spec["maxRetry"], spec["schedulerName"], made["name"]) == (
        "default",
        3,
        "volcano",
        "default0",
    )
    assert "minAvailable" not in spec
    assert "minAvailable" not in made


def test_each_field_of_a_template_may_change() -> None:
    stored = as_template(job(task("a", 2), plugins={"env": []}, queue="one"))
    changed = as_template(job(task("b", 5), volumes=[{"mountPath": "/v", "volumeClaimName": "c"}], queue="two"))
    assert TEMPLATE.validate(changed, stored).allowed


def test_the_name_of_a_template_is_not_that_of_a_job() -> None:
    assert TEMPLATE.validate(as_template(job(task("a"), name="1a", plugins={"svc": []}))).allowed


@pytest.mark.parametrize(
    ("flows", "expected"),
    [
        ([flow("a"), flow("b", "a"), flow("c", "a"), flow("d", "b", "c")], []),
        ([flow("a.b")], []),
        ([], []),
        ([flow("a"), flow("a")], ['spec.flows[1].name: Duplicate value: "a": already used by spec.flows[0]']),
        (
            [flow("a", "a")],
            ['spec.flows[0].dependsOn.targets[0]: Invalid value: "a": a flow cannot depend on itself: remove it'],
        ),
        (
            [flow("a", "b"), flow("b", "a")],
            [
                'spec.flows[1].dependsOn.targets[0]: Invalid value: "a": dependency cycle: a → b → a; '
                "none of these flows would ever start"
            ],
        ),
        (
            [flow("fetch"), flow("train", "fetsh")],
            [
                'spec.flows[1].dependsOn.targets[0]: Not found: "fetsh": did you mean fetch? '
                "the job's flows are fetch, train"
            ],
        ),
        (
            [flow("A_b")],
            [
                "spec.flows[0].name: Invalid value: \"A_b\": must consist of lower case letters, digits, '-' and '.', "
                "and each part between dots must begin and end with a letter or a digit: it is the name of a JobTemplate"
            ],
        ),
        ([flow("a" * 53)], []),  # train-…-t-0 has 63 characters
        (
            [flow("a" * 54)],
            [
                f'spec.flows[0].name: Too long: "{"a" * 54}": may not be more than 53 characters: the pods are named '
                "<JobFlow>-<flow>-<task>-<index>, and the Job gets the label <namespace>.<flow>; each may have at most "
                "63 characters"
            ],
        ),
    ],
)
def test_flows_have_an_order_and_names_for_their_jobs(flows: list[Any], expected: list[str]) -> None:
    assert faults(FLOWS.validate(jobflow(*flows))) == expected


def test_the_name_of_a_flow_fits_a_label() -> None:
    (fault,) = faults(FLOWS.validate(jobflow(flow("a"), name="f" * 56)))
    assert fault.startswith("metadata.name: Too long:")
    assert "may not be more than 55 characters: each Job gets the label <namespace>.<JobFlow>" in fault
    assert FLOWS.validate(jobflow(flow("a"), name="f" * 55)).allowed


def test_a_template_that_does_not_exist_is_a_warning() -> None:
    response = FLOWS.validate(jobflow(flow("a"), flow("b")), objects=Known(a=job(task("main"))))
    assert response.allowed
    assert response.warnings == ["spec.flows[1].name: no JobTemplate b exists yet: the Job is created when it does"]


class Sealed(dict[str, Any]):
    """An object that nothing may read."""

    def get(self, key: str, default: Any = None) -> Any:
        raise AssertionError(f"{key} was read")


def test_templates_are_not_read_to_judge_a_flow() -> None:
    # A flow of 15 KB may name a thousand of 1 MB.
    assert FLOWS.validate(jobflow(flow("a")), objects=Known(a=Sealed(spec={}))).warnings == []


def test_probes_and_patches_are_ignored_with_a_warning() -> None:
    probe = {"tcpSocketList": [{"taskName": "main", "port": 80}], "httpGetList": [{"path": "/", "port": 8080}]}
    patched = flow("b", dependsOn={"targets": ["a"], "probe": probe}, patch={"jobSpec": {"queue": "other"}})
    assert FLOWS.validate(jobflow(flow("a"), patched)).warnings == [
        "not checked: jobtemplates.v1alpha1.flow.volcano.sh are not known here",
        "spec.flows[1].dependsOn.probe: ignored, as by Volcano: the Job is created when the Jobs of all targets are "
        "Completed",
        "spec.flows[1].patch: ignored, as by Volcano: write another JobTemplate with these changes, and name it",
    ]


@pytest.mark.parametrize(
    ("beside", "context", "warning"),
    [
        (["a"], [], ""),
        ([], ["a"], ""),
        ([], ["b"], "spec.flows[0].name: no JobTemplate a exists yet: the Job is created when it does"),
        (["b"], [], "not checked: jobtemplates.v1alpha1.flow.volcano.sh 'default/a' is not among the files: "),
    ],
)
def test_templates_are_looked_up_among_files_too(beside: list[str], context: list[str], warning: str) -> None:
    files, cluster = (
        [{**as_template(job(task())), "metadata": {"name": name}} for name in names] for names in (beside, context)
    )
    objects = FileObjects(files, context=cluster, kinds=KINDS)
    verdict = judge(jobflow(flow("a")), ReviewOptions(kinds=KINDS, objects=objects))
    assert [text[: len(warning)] for text in verdict.warnings] == ([warning] if warning else [])


def test_an_update_is_denied_for_new_faults_only() -> None:
    cycle = [flow("a", "b"), flow("b", "a")]
    assert FLOWS.validate(jobflow(*cycle, flow("c")), jobflow(*cycle)).allowed
    verdict = judge(
        jobflow(*cycle),
        ReviewOptions(kinds=KINDS, operation=Operation.UPDATE, stored=(jobflow(flow("a"), flow("b", "a")),)),
    )
    assert not verdict.allowed
