"""A kind with a field for each task, and no list or map of them."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from msgspec.structs import replace

from crdgen import CustomResource, Doc, Int32, Model, Names, PodTemplate, Version
from jobgate.api import Registry, ReviewOptions, judge
from jobgate.jobs.binding import bind
from jobgate.jobs.context import Context
from jobgate.jobs.defaults import limit_what_is_not_shared
from jobgate.jobs.job import Job, job_of
from jobgate.jobs.operator import Operator
from jobgate.jobs.prerequisites import prerequisites_are_ready
from jobgate.jobs.schema import StructuralSchema
from jobgate.prerequisites.reference import ANNOTATION
from jobgate.rules.shared import shared_rules
from tests.kinds.reviews import Reviews
from webhook.review import defaulted
from webhook.view import view

Json = dict[str, Any]
ROLES = ("spec", ("chief", "parameterServers"))


class Role(Model):
    replicas: Annotated[int, Int32(minimum=1)] = 1
    template: PodTemplate


class Spec(Model):
    chief: Annotated[Role | None, Doc("The pod that coordinates.")] = None
    parameter_servers: Annotated[Role | None, Doc("The pods that hold the parameters.")] = None


KIND = bind(
    CustomResource(group="example.com", names=Names(kind="Trial"), versions=(Version("v1", spec=Spec),)),
    operator=Operator(name="trial", minor=30, pod_name="{job}-{task}-{index}"),
    defaults=(limit_what_is_not_shared(*ROLES), prerequisites_are_ready(*ROLES)),
    rules=shared_rules(),
    fields={"tasks": ("chief", "parameter_servers")},
)
REVIEWS = Reviews(KIND)


def role(**spec: Any) -> Json:
    return {"template": {"spec": {"containers": [{"name": "main", "image": "i"}], **spec}}}


def job(**spec: Any) -> Json:
    return {"apiVersion": "example.com/v1", "kind": "Trial", "metadata": {"name": "a"}, "spec": spec}


def read(document: Json) -> Job[Any]:
    return Job(KIND, document, view(KIND.spec, document["spec"])[0])


def test_each_field_is_a_task_with_its_name() -> None:
    tasks = read(job(parameterServers=role(), chief=role())).all_tasks
    assert [(task.name, str(task.path), task.replicas) for task in tasks] == [
        ("chief", "spec.chief", 1),
        ("parameterservers", "spec.parameterServers", 1),
    ]


def test_a_plain_job_is_accepted_by_the_fast_check_and_one_with_a_fault_is_not() -> None:
    document = KIND.schema.default(job(chief=role()))
    assert isinstance(KIND.schema, StructuralSchema)
    KIND.schema.compile()
    assert KIND.schema.accepts(document)
    mounts = role(containers=[{"name": "main", "image": "i", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}])
    assert not KIND.schema.accepts({**document, "spec": {**document["spec"], "parameterServers": mounts}})
    assert not KIND.schema.crowded(document)


@pytest.mark.parametrize("field", ["chief", "parameterServers"])
def test_a_rule_about_tasks_is_called_for_each_field(field: str) -> None:
    (cause,) = REVIEWS.validate(job(**{field: role(containers=[{"name": "main", "image": ""}])})).causes
    assert str(cause.path) == f"spec.{field}.template.spec.containers[0].image"


@pytest.mark.parametrize("broken", [7, {"replicas": "x"}, {"template": 7}, {"replicas": {}, **role()}])
def test_a_task_that_does_not_fit_hides_no_fault_of_another(broken: Any) -> None:
    wrong = role(containers=[{"name": "main", "image": ""}])
    paths = {str(cause.path) for cause in REVIEWS.validate(job(chief=broken, parameterServers=wrong)).causes}
    assert "spec.parameterServers.template.spec.containers[0].image" in paths
    assert any(path.startswith("spec.chief") for path in paths)
    stored = job(chief=broken, parameterServers=role())
    changed = deepcopy(stored)
    changed["spec"]["parameterServers"] = wrong
    assert not REVIEWS.validate(changed, stored).allowed


def test_a_stored_task_is_read_as_far_as_it_fits() -> None:
    (task,) = job_of(KIND, job(chief={"replicas": "x", **role()})).all_tasks
    assert task.broken == {"replicas"}
    assert not job_of(KIND, job(chief=7)).has_readable_tasks
    assert not job_of(KIND, job()).has_readable_tasks


def test_defaults_reach_each_task() -> None:
    devices = {"requests": {"example.com/gpu": 1}}
    document = job(parameterServers=role(containers=[{"name": "main", "image": "i", "resources": devices}]))
    document["metadata"]["annotations"] = {ANNOTATION: "ClusterPrerequisite/a"}
    template = defaulted(KIND, document, Context(namespace="default")).value["spec"]["parameterServers"]["template"]
    assert template["spec"]["containers"][0]["resources"]["limits"] == {"example.com/gpu": 1}
    assert template["metadata"]["annotations"] == {ANNOTATION: "ClusterPrerequisite/a"}


def test_the_documented_kind_denies_the_documented_job_for_the_documented_faults() -> None:
    page = Path("docs/how-to/tasks-in-fields.md").read_text(encoding="utf-8")
    code, document, faults = re.findall(r"^```\w+\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    documented: dict[str, Any] = {"__name__": "trainings"}
    exec(compile(code, "tasks-in-fields.md", "exec", dont_inherit=True), documented)
    options = ReviewOptions(Registry([documented["TRAINING"]]))
    denied = judge(yaml.safe_load(document), options).status
    assert denied is not None
    causes = denied["details"]["causes"]
    assert [f"{cause['field']}: {cause['message']}" for cause in causes] == faults.splitlines()
    good = job(chief=role()) | {"kind": "Training"}
    assert judge(good, options).status is None


def test_a_kind_says_which_fields_are_tasks() -> None:
    assert KIND.task_fields == ROLES
    assert replace(KIND, rules=()).all_fields("tasks.replicas")[1].steps == ("spec", "parameterServers", "replicas")
