"""Prerequisites of jobs at admission: resolved, authorized, recorded; rejected where a pod could not have them."""

from collections.abc import Mapping
from typing import Any

import jsonpatch
import pytest

from jobgate.jobs.context import Settings
from jobgate.jobs.kind import JobKind
from jobgate.jobs.policies import COMMAND
from jobgate.jobs.prerequisites import wanted
from jobgate.kinds import installed
from jobgate.plugins import Crew
from jobgate.pods import digest_of
from jobgate.prerequisites.problem import ProblemReason
from jobgate.prerequisites.reference import ANNOTATION, RECORD, read_record
from jobgate.runner.rendering import rendered
from jobgate.runner.subject import read
from tests.prerequisites.items import NAMESPACE, Granted, Known, examples, item, named, starts, wants
from webhook import Access, Operation, Phase, Request, Response, User, review

KINDS = installed()
CONTAINER = {"name": "main", "image": "x", "command": ["python"]}


def template(annotation: str | None = None, **container: Any) -> dict[str, Any]:
    """A pod template, with the annotation that names prerequisites."""
    metadata = {} if annotation is None else {"metadata": {"annotations": {ANNOTATION: annotation}}}
    return {**metadata, "spec": {"containers": [{**CONTAINER, **container}]}}


def dijob(*of_task: Any, of_job: Any = None, pod: Any = None) -> dict[str, Any]:
    """A DIJob with one task."""
    task = {"name": "work", "template": pod or template(), **({"prerequisites": list(of_task)} if of_task else {})}
    spec = {"tasks": [task], **({"prerequisites": of_job} if of_job is not None else {})}
    return {
        "apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob",
        "metadata": {"name": "train", "namespace": NAMESPACE}, "spec": spec,
    }  # fmt: skip


def others(annotation: str | None) -> dict[str, dict[str, Any]]:
    """Jobs of the other kinds whose one template may have an annotation."""
    main, mxnet, torch = (template(annotation, name=name) for name in ("main", "mxnet", "torch"))
    return {
        "Job": {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "spec": {"tasks": [{"name": "w", "replicas": 1, "template": main}]},
        },
        "MxJob": {
            "apiVersion": "mxnet.mlkube.io/v1beta1",
            "spec": {"jobMode": "local", "replicaSpecs": [{"mxReplicaType": "WORKER", "template": mxnet}]},
        },
        "TorchJob": {
            "apiVersion": "train.distributed.io/v1alpha1",
            "spec": {"torchTaskSpecs": {"Master": {"template": torch}}},
        },
    }


def answer(
    job: dict[str, Any], known: Known, phase: Phase, access: Access | None = None, old: dict[str, Any] | None = None
) -> Response:
    """The answer to alice, who applies a job."""
    request = Request(
        uid="1", api_version=job["apiVersion"], kind=job["kind"], namespace=NAMESPACE, name=job["metadata"]["name"],
        operation=Operation.UPDATE if old else Operation.CREATE, document=job, old_document=old, user=User("alice"),
    )  # fmt: skip
    return review(request, phase, KINDS, Settings(), objects=known, access=access)


def causes_of(job: dict[str, Any], known: Known, access: Access | None = None) -> list[str]:
    """The causes for which a job is rejected."""
    return [str(cause) for cause in answer(job, known, Phase.VALIDATE, access).causes]


def stored(job: dict[str, Any], known: Known, old: dict[str, Any] | None = None) -> dict[str, Any]:
    """The job as mutation leaves it."""
    result: dict[str, Any] = jsonpatch.apply_patch(job, answer(job, known, Phase.MUTATE, old=old).patch)
    return result


EXAMPLES = Known(examples())
START = "DIJob train → "


@pytest.mark.parametrize("names", [["mnist"], ["imagenet"], ["imagenet", "imagenet-only-validation"], ["debug-hook"]])
def test_the_scenarios_are_allowed_and_recorded(names: list[str]) -> None:
    job = stored(dijob(*({"name": name} for name in names)), EXAMPLES)
    assert not causes_of(job, EXAMPLES)
    recorded = read_record(job["metadata"]["annotations"][RECORD])
    assert [f"Prerequisite/{name}" for name in names] == [each for each in recorded if each.startswith("Prerequisite/")]
    assert all(len(value["hash"]) == 16 for value in recorded.values())
    assert not answer(job, EXAMPLES, Phase.MUTATE).patch, "a second mutation finds nothing to add"


C = "ClusterPrerequisite"
NAMED, OF_TASK = "spec.tasks[0].prerequisites[0]", "spec.tasks[0]"
VARIABLE = [{"name": "x"}]
TWO = {"spec": {"containers": [CONTAINER, {**CONTAINER, "name": "side"}]}}
OTHER_VOLUME = template()
OTHER_VOLUME["spec"]["volumes"] = [{"name": "pvc-c", "emptyDir": {}}]

#: The job, the items, the place and the reason of the cause, and what its text says beside.
NEGATIVES: list[tuple[dict[str, Any], list[dict[str, Any]], str, ProblemReason, str]] = [
    (dijob(wants("no")), [], NAMED, ProblemReason.UNKNOWN_REFERENCE, "Prerequisite no: there is no Prerequisite no"),
    (dijob(of_job=[wants("no")]), [], "spec.prerequisites[0]", ProblemReason.UNKNOWN_REFERENCE, "Prerequisite no: "),
    (dijob(wants("a", C)), [item("a", require=[wants("a")])], NAMED, ProblemReason.CYCLE,
     f"{C} a → {C} a: {C} a requires itself"),
    (dijob(wants("a", C)), [item("a", templateVariables=VARIABLE)], NAMED, ProblemReason.MISSING_VARIABLE, "a value for x"),
    (dijob(wants("a", C, x=1, y=2)), [item("a", templateVariables=VARIABLE)], NAMED, ProblemReason.UNKNOWN_VARIABLE,
     "has no variable y: it has x"),
    (dijob(wants("a", C, x="$(id)")), [item("a", templateVariables=VARIABLE)], NAMED, ProblemReason.INVALID_VALUE,
     "the value of x must be one or more letters"),
    (dijob(wants("a", C)), [item("a", env=[{"name": "A", "value": "{{ x }}"}])], NAMED, ProblemReason.UNDECLARED_PLACEHOLDER,
     "spec.env[0].value: x is not in templateVariables"),
    (dijob(wants("a", C)), [item("a", require=[wants("b", x="{{ y }}")], templateVariables=[{"name": "y", "default": 1}]),
                            item("b", templateVariables=[{"name": "x", "pattern": ".*"}])], NAMED,
     ProblemReason.UNDECLARED_PLACEHOLDER, "values are literals"),
    (dijob(wants("a", C)), [item("a", templateVariables=[{"name": "x", "default": 1}] * 2)], NAMED, ProblemReason.MALFORMED,
     "correct it, and apply it again"),
    (dijob(wants("a", C)), [item("a", plugin={"name": "unheard-of"})], OF_TASK, ProblemReason.UNSUPPORTED_PLUGIN,
     "plugin unheard-of is not offered here"),
    (dijob(wants("a", C)), [item("a", plugin={"name": "env", "arguments": ["--x"]}, require=[wants("b")]),
                            item("b", plugin={"name": "env"})], NAMED, ProblemReason.PLUGIN_CONFLICT, "plugin env"),
    (dijob(wants("a", C)), [item("a", env=[{"name": "A", "value": "1"}], require=[wants("b")]),
                            item("b", env=[{"name": "A", "value": "2"}])], NAMED, ProblemReason.ENV_CONFLICT, "variable A"),
    (dijob(wants("a", C), pod=template(volumeMounts=[{"name": "s", "mountPath": "/mnt/c"}])),
     [item("a", pvcStorage={"name": "c"})], NAMED, ProblemReason.MOUNT_CONFLICT, "/mnt/c"),
    (dijob(wants("a", C), pod=OTHER_VOLUME), [item("a", pvcStorage={"name": "c"})], NAMED, ProblemReason.VOLUME_CONFLICT,
     "give the volume another name"),
    (dijob(wants("a", C), pod=TWO), [item("a", cmd=starts("x"))], OF_TASK, ProblemReason.UNKNOWN_CONTAINER, "2 containers"),
    (dijob(wants("a", C), pod=template(command=None)), [item("a", cmd=starts("x"))], OF_TASK, ProblemReason.COMMAND_REQUIRED,
     "write the image's ENTRYPOINT as command"),
    (dijob(wants("a", C)), [item("a", cmd=starts(*["x" * 4000] * 9))], OF_TASK, ProblemReason.TOO_LARGE, "32768 bytes"),
    (dijob(wants("i0", C)), [item(f"i{n}", require=[wants(f"i{n + 1}")]) for n in range(17)], NAMED,
     ProblemReason.DEPTH_EXCEEDED, f"{C} i0 → {C} i1"),
]  # fmt: skip


@pytest.mark.parametrize(("job", "documents", "path", "reason", "text"), NEGATIVES)
def test_a_job_whose_pods_could_not_have_them_is_rejected_with_the_reason_and_the_way_from_the_job(
    job: Any, documents: Any, path: str, reason: ProblemReason, text: str
) -> None:
    (result,) = (text for text in causes_of(job, Known(documents)) if reason in text)
    assert result.startswith(f"{path}: ")
    assert f": {reason}: {START[:-3]}" in result
    assert text in result


def test_every_reason_is_rejected_at_admission() -> None:
    assert {reason for *_, reason, _ in NEGATIVES} == {*ProblemReason} - {ProblemReason.FORBIDDEN}


@pytest.mark.parametrize(("job", "documents"), [case[:2] for case in NEGATIVES if case[1]])
def test_a_user_without_the_right_to_an_item_learns_nothing_of_what_is_in_it(job: Any, documents: Any) -> None:
    causes = causes_of(job, Known(documents), Granted({}))
    assert any(f"user 'alice' cannot use {C} " in cause for cause in causes)
    shown = [
        cause for cause in causes for reason in {*ProblemReason} - {ProblemReason.FORBIDDEN} if f": {reason}: " in cause
    ]
    assert shown == []


def test_a_user_without_the_right_is_not_held_to_what_is_wrong_with_a_stored_item() -> None:
    old = stored(dijob(wants("a", C)), Known([item("a", cmd=starts("x"))]))
    new = {**old, "spec": {**old["spec"], "backoffLimit": 5}}
    response = answer(new, Known([item("a", templateVariables=VARIABLE)]), Phase.VALIDATE, Granted({}), old)
    assert not response.causes
    assert any(ProblemReason.MISSING_VARIABLE in notice.message for notice in response.notices), response.notices


def test_the_annotation_of_other_kinds_is_rejected_on_a_dijob() -> None:
    (text,) = causes_of(dijob(pod=template("mnist")), EXAMPLES)
    place = "spec.tasks[0].template.metadata.annotations[jobgate.dev/prerequisites]"
    assert text.startswith(f"{place}: Forbidden: a DIJob names its prerequisites in spec.prerequisites")


@pytest.mark.parametrize("kind", ["Job", "MxJob", "TorchJob"])
def test_other_kinds_name_them_in_an_annotation_of_a_template_or_of_the_job(kind: str) -> None:
    known = Known([item("a", cmd=starts("x")), item("b", cmd=starts("y"))])
    job = {"kind": kind, "metadata": {"name": "train"}, **others("ClusterPrerequisite/a, ClusterPrerequisite/b")[kind]}
    assert list(read_record(stored(job, known)["metadata"]["annotations"][RECORD])) == [
        "ClusterPrerequisite/a",
        "ClusterPrerequisite/b",
    ]
    assert any("UnknownReference" in text for text in causes_of(job, Known([])))
    spread = {
        "kind": kind,
        "metadata": {"name": "train", "annotations": {ANNOTATION: "ClusterPrerequisite/b"}},
        **others(None)[kind],
    }
    job = stored(spread, known)
    assert f"'{ANNOTATION}': 'ClusterPrerequisite/b'" in str(job["spec"])
    assert list(read_record(job["metadata"]["annotations"][RECORD])) == ["ClusterPrerequisite/b"]


@pytest.mark.parametrize("text", ["[", '[{"kind": "ClusterPrerequisite"}]', "Other/a", "[1]", "A b"])
def test_an_annotation_that_names_none_is_rejected_with_the_form(text: str) -> None:
    job = {"kind": "Job", "metadata": {"name": "train"}, **others(text)["Job"]}
    assert any("annotations[jobgate.dev/prerequisites]: Invalid value" in text for text in causes_of(job, EXAMPLES))


def test_a_user_without_the_right_to_an_item_is_rejected_by_its_name_and_with_it_allowed() -> None:
    job, every = (
        dijob(wants("mnist")),
        ["Prerequisite/mnist", "ClusterPrerequisite/mnist", "ClusterPrerequisite/install-wget"],
    )
    assert not causes_of(job, EXAMPLES, Granted({"alice": every}))
    (text,) = causes_of(job, EXAMPLES, Granted({"alice": every[:2]}))
    assert text.startswith("spec.tasks[0].prerequisites[0]: Forbidden: DIJob train → Prerequisite mnist → ")
    assert "user 'alice' cannot use ClusterPrerequisite install-wget: ask for the verb use" in text
    (text, *_) = causes_of(job, EXAMPLES, Granted({}, unknown=True))
    assert "cannot be checked now" in text


def test_on_an_update_only_items_that_are_new_are_asked_for() -> None:
    old = stored(dijob(wants("mnist")), EXAMPLES)
    new = stored(dijob(wants("mnist"), wants("debug-hook")), EXAMPLES, old)
    causes = answer(new, EXAMPLES, Phase.VALIDATE, Granted({}), old).causes
    assert [cause.value for cause in causes] == ["ClusterPrerequisite/debug-hook", "Prerequisite/debug-hook"]
    kind = KINDS.get(new["apiVersion"], new["kind"])
    assert isinstance(kind, JobKind)
    request = Request(
        "1", new["apiVersion"], "DIJob", Operation.UPDATE, namespace=NAMESPACE, document=new, old_document=old
    )
    assert [name for _, name in wanted(kind, request, EXAMPLES)] == ["debug-hook", "debug-hook"]


def test_a_job_that_was_stored_before_an_item_changed_keeps_its_record_and_gets_a_warning() -> None:
    known = Known([item("a", cmd=starts("one"))])
    old = stored(dijob(wants("a", "ClusterPrerequisite")), known)
    known.put(item("a", generation=2, cmd=starts("two")))
    changed = {**old, "spec": {**old["spec"], "backoffLimit": 7}}
    new = stored(changed, known, old)
    assert new["metadata"] == old["metadata"]
    (notice,) = (
        notice for notice in answer(new, known, Phase.VALIDATE, old=old).notices if "generation" in notice.message
    )
    assert "is at generation 2, and the job was stored with generation 1" in notice.message


def test_the_record_follows_the_lists_of_the_job() -> None:
    known = Known([item("a"), item("b")])
    old = stored(dijob(wants("a", "ClusterPrerequisite")), known)
    known.put(item("a", generation=2, description="changed"))
    new = {**old, "spec": dijob(wants("a", "ClusterPrerequisite"), wants("b", "ClusterPrerequisite"))["spec"]}
    recorded = read_record(stored(new, known, old)["metadata"]["annotations"][RECORD])
    assert {name: one["generation"] for name, one in recorded.items()} == {
        "ClusterPrerequisite/a": 1,
        "ClusterPrerequisite/b": 1,
    }


def test_a_plugin_that_an_item_needs_is_asked_for_unless_the_job_does() -> None:
    known = Known([item("a", plugin={"name": "svc", "arguments": {"publishNotReadyAddresses": True}})])
    job = stored(dijob(wants("a", "ClusterPrerequisite")), known)
    assert job["spec"]["plugins"] == {"svc": {"publishNotReadyAddresses": True}}
    asking = dijob(wants("a", "ClusterPrerequisite"))
    asking["spec"]["plugins"] = {"svc": []}
    assert stored(asking, known)["spec"]["plugins"] == {"svc": []}


def test_if_items_are_not_known_a_review_says_so_and_a_server_rejects() -> None:
    class Nothing(Known):
        def get(self, resource: str, name: str, namespace: str = "") -> Any:
            raise LookupError

    job = dijob(wants("a"))
    response = answer(job, Nothing([]), Phase.VALIDATE)
    assert response.allowed
    assert any("not known here" in str(notice) for notice in response.notices)
    (text,) = causes_of(job, Nothing([]), Granted({}))
    assert "not known yet: retry" in text


def test_a_list_in_two_places_and_a_name_that_is_there_twice_count_once() -> None:
    known = Known([item("a", cmd=starts("x"))])
    job = dijob(wants("a", "ClusterPrerequisite"), of_job=[wants("a", "ClusterPrerequisite")])
    response = answer(job, known, Phase.VALIDATE)
    assert response.allowed
    assert any("is already listed" in str(notice) for notice in response.notices)


@pytest.mark.parametrize(
    "value", [1, "x", {}, [1], [None], [{"name": 1}], [{"name": "a", "templateVariables": [1]}], ["a"]]
)
def test_any_json_in_the_lists_has_an_answer(value: Any) -> None:
    for job in (dijob(of_job=value), dijob(value)):
        for phase in Phase:
            answer(job, EXAMPLES, phase, Granted({}))


@pytest.mark.parametrize("of_job", [True, False])
def test_a_name_that_no_item_can_have_is_rejected(of_job: bool) -> None:
    wrong = [wants("A b")]
    (text,) = causes_of(dijob(of_job=wrong) if of_job else dijob(*wrong), EXAMPLES)
    assert text.startswith(f"spec.{'' if of_job else 'tasks[0].'}prerequisites: Invalid value")
    assert "'A b' is no name of an item" in text


def test_a_reference_is_the_same_whatever_the_order_of_its_values() -> None:
    assert named("a", b="1", c="2") == named("a", c="2", b="1")


def annotated(kind: str, text: str | None, of_template: str | None = None, **metadata: Any) -> dict[str, Any]:
    """A job of a kind without the field, with the annotation."""
    annotations = {} if text is None else {ANNOTATION: text}
    about = {"name": "train", "namespace": NAMESPACE, "uid": "1", "annotations": annotations, **metadata}
    return {"kind": kind, "metadata": about, **others(of_template)[kind]}


def named_by_templates(job: Mapping[str, Any]) -> list[Any]:
    """The references in the templates of a job."""
    kind = KINDS.get(job["apiVersion"], job["kind"])
    assert isinstance(kind, JobKind)
    return [reference.name for each in kind.asked(job) for reference in each.references]


WITHOUT_FIELD = ["Job", "MxJob", "TorchJob"]


@pytest.mark.parametrize("name", WITHOUT_FIELD)
def test_readers_take_the_templates_of_a_stored_job_and_not_its_annotation(name: str) -> None:
    job = annotated(name, "mnist")
    kind = KINDS.get(job["apiVersion"], name)
    assert isinstance(kind, JobKind)
    crew, subject = digest_of(kind, job), read(kind, job)
    assert isinstance(crew, Crew)
    assert not any(part.prerequisites for part in crew.parts)
    assert subject is not None
    assert named_by_templates(subject.job.document) == []
    assert not any(ANNOTATION in str(each) for each in rendered(kind, job, NAMESPACE, "cluster.local"))


@pytest.mark.parametrize(
    ("case", "old", "new", "may", "refused"),
    [
        ("it is added", annotated("TorchJob", None), annotated("TorchJob", "debug-hook"), False, True),
        ("it is added by who may", annotated("TorchJob", None), annotated("TorchJob", "debug-hook"), True, False),
        ("it was written past admission", annotated("TorchJob", "debug-hook"),
         annotated("TorchJob", "debug-hook", labels={"a": "b"}, annotations={ANNOTATION: "debug-hook", COMMAND: "x"}),
         False, True),
        ("the template had it", annotated("TorchJob", "debug-hook", "debug-hook"),
         annotated("TorchJob", "debug-hook, debug-hook", "debug-hook"), False, False),
        ("it is added while the job is deleted", annotated("TorchJob", None, deletionTimestamp="2026-01-01T00:00:00Z"),
         annotated("TorchJob", "debug-hook", deletionTimestamp="2026-01-01T00:00:00Z"), False, True),
    ],
)  # fmt: skip
def test_an_update_of_the_annotation_alone_needs_the_right(
    case: str, old: dict[str, Any], new: dict[str, Any], may: bool, refused: bool
) -> None:
    access = Granted({"alice": ["Prerequisite/debug-hook", "ClusterPrerequisite/debug-hook"]} if may else {})
    patched = jsonpatch.apply_patch(new, list(answer(new, EXAMPLES, Phase.MUTATE, access, old).patch))
    assert named_by_templates(patched) == ([] if "deleted" in case else ["debug-hook"])
    causes = [str(cause) for cause in answer(patched, EXAMPLES, Phase.VALIDATE, access, old).causes]
    assert any("user 'alice' cannot use Prerequisite debug-hook" in cause for cause in causes) == refused, case
    # And no template of a TorchJob may change.
    assert any("may not change after the job is created: it would be added" in cause for cause in causes) == (
        "template had it" not in case
    )
    kind = KINDS.get(new["apiVersion"], "TorchJob")
    assert isinstance(kind, JobKind)
    request = Request(
        "1", new["apiVersion"], "TorchJob", Operation.UPDATE, namespace=NAMESPACE, document=new, old_document=old
    )
    assert bool(wanted(kind, request, EXAMPLES)) == (refused or may)


@pytest.mark.parametrize(("changed", "warns"), [("imagenet", True), (None, True), ("mnist", False)])
def test_a_template_that_names_items_keeps_them_and_its_user_is_warned(changed: str | None, warns: bool) -> None:
    old = annotated("MxJob", "mnist", "mnist")
    new = annotated("MxJob", changed, "mnist", labels={"a": "b"})
    new["metadata"]["annotations"][COMMAND] = "x"
    response = answer(new, EXAMPLES, Phase.VALIDATE, None, old)
    assert response.allowed
    notices = [str(notice) for notice in response.notices if "stays mnist: change it here" in str(notice)]
    assert [notice.partition(":")[0] for notice in notices] == (
        ["spec.replicaSpecs[0].template.metadata.annotations[jobgate.dev/prerequisites]"] if warns else []
    )


class Unread(Known):
    """The objects of a server before it has listed any."""

    def get(self, resource: str, name: str, namespace: str = "") -> Any:
        raise LookupError(resource)


#: An item of mallory's that requires too many missing items, so that no later item is resolved; and ordinary items.
HIDES = item("p", "Prerequisite", require=[wants(f"m{place}") for place in range(32)])
SOUND, SECRET = item("p", "Prerequisite", cmd=starts("ls")), item("secret", cmd=starts("ls"))
#: An item that is two thirds of what a job may have, of several values.
HUGE = item("p", "Prerequisite", templateVariables=[{"name": "x"}], require=[wants(f"r{n}") for n in range(32)])
REQUIRED = [item(f"r{n}", "Prerequisite", cmd=starts("ls")) for n in range(32)]
NEW = wants("secret", "ClusterPrerequisite")


def tasks_of(count: int, *more: Any) -> dict[str, Any]:
    """A DIJob of tasks that name the item each with a value of its own; the last names more."""
    job = dijob()
    (task,) = job["spec"]["tasks"]
    job["spec"]["tasks"] = [
        {**task, "name": f"w{place}", "prerequisites": [wants("p", x=str(place))]} for place in range(count)
    ]
    job["spec"]["tasks"][-1]["prerequisites"] += more
    return job


@pytest.mark.parametrize(
    ("case", "known", "old", "new", "refused"),
    [
        ("an item with many faults", Known([HIDES, SECRET]), dijob(wants("p")), dijob(wants("p"), NEW), True),
        ("it was named before", Known([HIDES, SECRET]), dijob(wants("p"), NEW), dijob(NEW, wants("p")), False),
        ("a sound item", Known([SOUND, SECRET]), dijob(wants("p")), dijob(wants("p"), NEW), True),
        ("too many items of a job", Known([HUGE, SECRET, *REQUIRED]), tasks_of(150), tasks_of(150, NEW), True),
        ("nothing is known yet", Unread([]), dijob(wants("p")), dijob(wants("p"), NEW), True),
        ("nothing is known yet, of what is there", Unread([]), dijob(wants("p")), dijob(wants("p"), of_job=[]), False),
    ],
)
def test_no_stored_fault_hides_an_item_that_an_update_adds(
    case: str, known: Known, old: dict[str, Any], new: dict[str, Any], refused: bool
) -> None:
    may = Granted({"alice": ["Prerequisite/p", *(f"Prerequisite/r{place}" for place in range(32))]})
    new = {**new, "metadata": {**new["metadata"], "labels": {"a": "b"}}}
    causes = [str(cause) for cause in answer(new, known, Phase.VALIDATE, may, old).causes]
    assert any("ClusterPrerequisite secret" in cause for cause in causes) == refused, (case, causes)
    assert bool(causes) == refused
