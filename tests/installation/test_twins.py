"""What policies say of defaults and rules, compared with the functions, on the examples and on broken copies of them."""

import random
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import jsonpatch
import pytest
from msgspec.structs import replace

from crdgen import CustomResource, Model, Names, Version
from crdgen.cel.engine import evaluate_untyped
from jobgate.api import Fault, Fill, Place, bind, says
from jobgate.installation import Installation, objects
from jobgate.installation.tree import resolve
from jobgate.installation.twins import Twins
from jobgate.jobs.context import Context
from jobgate.jobs.kind import JobKind, job_kinds
from jobgate.kinds import installed
from tests.corpus import BROKEN, GOOD, jobs, name_of
from webhook import Cause, Draft, Operation, rule
from webhook.review import _findings, defaulted

KINDS = {(kind.gvk.api_version, kind.kind): kind for kind in job_kinds(installed())}
NAME = "dijobs.diengine.opendilab.org"
TWINS = {kind.kind + kind.group: Twins(kind) for kind in KINDS.values()}
CONTEXT = Context(operation=Operation.CREATE, namespace="team")
JOBS: dict[str, tuple[JobKind, dict[str, Any]]] = {
    f"{name_of(file)}-{index}": (KINDS[job["apiVersion"], job["kind"]], job)
    for file in (*GOOD, *BROKEN)
    for index, job in enumerate(jobs(file))
    if (job.get("apiVersion"), job.get("kind")) in KINDS
}
each_job = pytest.mark.parametrize(("kind", "job"), JOBS.values(), ids=JOBS)
#: How often a job is broken further.
ROUNDS = 8
#: Values that no schema allows everywhere.
HOSTILE: tuple[Any, ...] = (None, "", "x", 0, -1, 5, True, [], [None], ["x"], {}, {"x": None}, "1Gi", 10**12)


def evaluated(expression: str, job: dict[str, Any]) -> Any:
    """Evaluate an expression of a policy, with its operations as plain maps, as the CEL library has no JSONPatch."""
    plain = re.sub(
        r'JSONPatch\{op: "add", path: (.*?), value: ', r'{"op": dyn("add"), "path": dyn(\1), "value": dyn(', expression
    )
    request = {"operation": "CREATE"}
    return evaluate_untyped(_closed(plain), {"object": job, "oldObject": None, "request": request})


def _closed(expression: str) -> str:
    """Close the `dyn(` of each value: at the brace that closes the operation."""
    out, depths, depth = [], [], 0
    position = 0
    while position < len(expression):
        if expression.startswith('"value": dyn(', position):
            out.append('"value": dyn(')
            position += len('"value": dyn(')
            depths.append(depth)
            continue
        character = expression[position]
        if depths and character == "}" and depth == depths[-1]:
            depths.pop()
            out.append(")")
        depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(character, 0)
        out.append(character)
        position += 1
    return "".join(out)


def by_policy(kind: JobKind, job: dict[str, Any]) -> dict[str, Any]:
    """Return a job after the schema's defaults and the policy."""
    twins = TWINS[kind.kind + kind.group]
    job = kind.schema.default(job)
    try:
        patch = evaluated(twins.patch, job) if twins.patch and evaluated(twins.lacks, job) else []
    except Exception as error:  # the policy is ignored then
        if "EvaluationError" not in type(error).__name__:
            raise
        patch = []
    changed: dict[str, Any] = jsonpatch.apply_patch(job, patch)
    return changed


@each_job
def test_a_policy_adds_what_the_defaults_add(kind: JobKind, job: dict[str, Any]) -> None:
    chance = random.Random(str(job))
    for _ in range(ROUNDS):
        after = by_policy(kind, job)
        assert defaulted(kind, after, CONTEXT).value == defaulted(kind, kind.schema.default(job), CONTEXT).value
        job = broken(deepcopy(job), chance)


def test_most_jobs_need_nothing_more() -> None:
    good = [case for name, case in JOBS.items() if "broken" not in name]
    needing = [job for kind, job in good if evaluated(TWINS[kind.kind + kind.group].needs, by_policy(kind, job))]
    assert len(needing) <= len(good) / 4


@each_job
def test_the_webhook_is_called_for_all_that_it_would_change(kind: JobKind, job: dict[str, Any]) -> None:
    chance = random.Random(str(job))
    twins = TWINS[kind.kind + kind.group]
    for _ in range(ROUNDS):
        after = by_policy(kind, job)
        if not evaluated(twins.needs, after):
            assert defaulted(kind, after, CONTEXT).patch == []
        job = broken(deepcopy(job), chance)


def broken(job: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Set or remove a random value of a job's spec."""
    part: Any = job.get("spec")
    if not isinstance(part, dict | list) or not part:
        return {**job, "spec": {}}
    while True:
        key = chance.choice(list(part) if isinstance(part, dict) else range(len(part)))
        if isinstance(part[key], dict | list) and part[key] and chance.random() < 0.85:
            part = part[key]
            continue
        if isinstance(part, dict) and chance.random() < 0.4:
            del part[key]
        else:
            part[key] = deepcopy(chance.choice(HOSTILE))
        return job


@each_job
def test_a_policy_denies_only_what_the_rule_denies(kind: JobKind, job: dict[str, Any]) -> None:
    chance = random.Random(str(job))
    for _ in range(ROUNDS):
        after = by_policy(kind, job)
        if kind.schema.fits(after):
            denying, denied = verdicts(kind, after)
            assert denied <= denying
        job = broken(deepcopy(job), chance)


def verdicts(kind: JobKind, job: dict[str, Any]) -> tuple[set[str], set[str]]:
    """Return the rules that deny a job in the webhook, and in the policy."""
    twins = TWINS[kind.kind + kind.group]
    context = replace(CONTEXT, name=job.get("metadata", {}).get("name", ""))
    found = [*_findings(kind, defaulted(kind, job, context).value, context, ratchets=False)]
    variables = {"objects": [job]}
    denied = set()
    _, faulty, *texts_of = resolve(twins.variables(), Installation())
    for variable in texts_of:
        (texts,) = evaluate_untyped(variable["expression"], {"variables": variables, "oldObject": None})
        denied |= {variable["name"]} if texts else set()
    assert evaluate_untyped(faulty["expression"], {"variables": variables, "oldObject": None}) == [bool(denied)]
    return {rule for rule, finding in found if isinstance(finding, Cause)}, denied


def task(**fields: Any) -> dict[str, Any]:
    """Return a task of a DIJob or a Volcano Job."""
    return {"name": "a", "template": {"spec": {"containers": [{"name": "main", "image": "i"}]}}, **fields}


CASES: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("dijobs", {"template": {}, "tasks": [task()]}, "j", "shape_is_the_one_with_tasks"),
    ("dijobs", {"tasks": [task(name="A")]}, "j", "task_names_are_labels"),
    ("dijobs", {"maxReplicas": 10**6, "tasks": [task()]}, "j", "maximum_is_within_the_limit"),
    ("dijobs", {"minReplicas": 2, "tasks": [task()]}, "j", "replicas_are_within_bounds"),
    ("dijobs", {"maxReplicas": 1, "tasks": [task(replicas=2)]}, "j", "replicas_are_within_bounds"),
    ("dijobs", {"tasks": [task(policies=[{"event": "PodFailed"}])]}, "j", "policies_have_an_action"),
    ("dijobs", {"tasks": [task()]}, "j.k", "derived_names_are_legal"),
    ("jobs", {"tasks": [task(name="")]}, "j", "tasks_have_names"),
    ("jobs", {"tasks": [task(name="a" * 40, replicas=1)]}, "j" * 30, "pod_names_are_short_enough"),
    ("jobs", {"queue": "", "tasks": [task()]}, "j", "queue_and_scheduler_are_named"),
    ("jobs", {"queue": "q" * 64, "tasks": [task()]}, "j", "queue_name_fits_a_label"),
)


@pytest.mark.parametrize(("plural", "spec", "name", "rule"), CASES)
def test_a_fault_that_no_example_has_is_denied(plural: str, spec: dict[str, Any], name: str, rule: str) -> None:
    kind = next(kind for kind in KINDS.values() if kind.plural == plural)
    after = by_policy(kind, {"metadata": {"name": name}, "spec": spec})
    assert kind.schema.fits(after)
    for rules in verdicts(kind, after):
        assert rule in rules


def test_each_twin_of_a_rule_denies_an_example_or_a_case_above() -> None:
    said = {rule for twins in TWINS.values() for rule in twins.faults}
    said -= {rule for *_, rule in CASES}
    for kind, job in JOBS.values():
        if kind.schema.fits(after := by_policy(kind, job)):
            said -= verdicts(kind, after)[1]
    assert said == set()


def test_a_default_without_a_twin_sends_every_job_to_the_webhook() -> None:
    (dijob,) = (kind for kind in KINDS.values() if kind.plural == "dijobs")
    kind = replace(dijob, defaults=(*dijob.defaults, lambda job, context: None))
    assert Twins(dijob).complete
    assert not Twins(kind).complete


@pytest.mark.parametrize(
    ("choices", "found"),
    [
        ({}, set()),
        ({"policies": True}, {"Mutating", "needs-defaults"}),
        ({"policies": True, "crds": False}, {"Mutating"}),
        ({"policies": True, "failure_policy": "Ignore"}, {"Mutating", "needs-defaults", "Validating"}),
        ({"policies": True, "failure_policies": {NAME: "Ignore"}}, {"Mutating", "needs-defaults", "Validating"}),
        ({"policies": True, "failure_policy": "Ignore", "mode": "warn"}, {"Mutating", "needs-defaults"}),
        ({"policies": True, "failure_policy": "Ignore", "kinds": {NAME: False}}, set()),
    ],
)
def test_an_installation_has_the_policies_that_hold_something(choices: dict[str, Any], found: set[str]) -> None:
    rendered = objects(installed(), Installation(**choices))
    policies = {
        item["kind"].removesuffix("AdmissionPolicy")
        for item in rendered
        if item["kind"].endswith("AdmissionPolicy") and NAME in item["metadata"]["name"]
    }
    (mutating,) = (item for item in rendered if item["kind"] == "MutatingWebhookConfiguration")
    entries = [entry for entry in mutating["webhooks"] if entry["name"].startswith(NAME)]
    conditions = {condition["name"] for entry in entries for condition in entry["matchConditions"]}
    assert policies | (conditions & {"needs-defaults"}) == found


def test_the_limit_of_pods_is_that_of_the_installation() -> None:
    installation = Installation(policies=True, failure_policy="Ignore", job_pods=77)
    policies = [item for item in objects(installed(), installation) if "policies" not in item["kind"]]
    assert " > 77 " in str([item for item in policies if item["kind"] == "ValidatingAdmissionPolicy"])


class Database(Model):
    """A kind without tasks."""

    storage: str | None = None
    replicas: int = 1
    min_replicas: int | None = None


@says(Fill(Place.JOB, "spec.storage", '"10Gi"'))
def databases_have_storage(database: Draft, _: Any) -> None:
    """A default."""
    if (spec := database.at("spec")) is not None:
        spec.setdefault("storage", "10Gi")


@rule("replicas", "min_replicas")
@says(Fault("min_replicas", "$(it) > $(replicas)"), Fault("tasks.name"))
def minimum_is_at_most_the_replicas(_: Any, __: Any) -> Iterator[Cause]:
    """The minimum must not be greater. A second sentence."""
    yield from ()


def test_a_kind_without_tasks_has_policies() -> None:
    resource = CustomResource(
        group="example.com", names=Names(kind="Database"), versions=(Version("v1", spec=Database),)
    )
    twins = Twins(bind(resource, defaults=(databases_have_storage,), rules=(minimum_is_at_most_the_replicas,)))
    assert evaluated(twins.patch, {"spec": {}}) == [{"op": "add", "path": "/spec/storage", "value": "10Gi"}]
    databases: list[dict[str, Any]] = [{}, {"spec": 5}, {"spec": {}}, {"spec": {"storage": "1Gi"}}]
    assert [evaluated(twins.needs, database) for database in databases] == [True, True, True, False]
    _, _, texts = resolve(twins.variables(), Installation())
    faulty, fine = ({"spec": {"replicas": 1, "minReplicas": minimum}} for minimum in (2, 1))
    found = evaluate_untyped(texts["expression"], {"variables": {"objects": [faulty, fine]}})
    assert found == [["spec.minReplicas: The minimum must not be greater"], []]
