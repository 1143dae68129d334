"""A fault that was stored is forgiven, and only that: another value of the same fault is rejected."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import pytest

from jobgate.podchecks.pod_security.policy import ENFORCE
from tests.corpus import BROKEN, jobs
from tests.differential.pods.pod_security import PODS
from tests.differential.pods.systematic import systematic
from tests.kinds.dijob.jobs import job, task, template
from tests.kinds.places import KINDS, Steps, ask, at, with_value
from webhook import Cause, Phase, Required, Response

#: Rules that judge what an UPDATE cannot change, or that are asked about a new job only.
_NOT_OF_UPDATES = {
    "derived_names_are_legal",
    "derived_names_are_short_enough",
    "derived_objects_have_legal_names",
    "job_names_begin_with_a_letter",
    "pod_names_are_short_enough",
    "volumes_have_one_claim",
}

#: Rules whose stored fault may become smaller.
_MAY_SHRINK = {"pods_are_within_the_limit"}

#: Rules that reject a change whatever it is.
_OF_CHANGES = {"fields_change_only_when_they_may", "stored_jobs_stay_as_they_are"}


class Restricted:
    """A cluster whose namespaces are held to the restricted level."""

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return a namespace."""
        del resource, name, namespace
        return {"metadata": {"labels": {ENFORCE: "restricted"}}}


def broken() -> Iterator[dict[str, Any]]:
    """Yield jobs with faults: of every kind, of every family of pods, of every check of a Pod Security level."""
    for file in BROKEN:
        yield from (job for job in jobs(file) if KINDS.get(job["apiVersion"], job["kind"]))
    for pod in (*PODS.values(), *(case.pod for case in systematic(7, 2, draw_only=60))):
        yield job(task("learner", template={part: pod[part] for part in ("metadata", "spec") if part in pod}))


def validated(document: dict[str, Any], old: dict[str, Any] | None = None) -> Response:
    return ask(Phase.VALIDATE, document, old, Restricted())


def others(value: Any) -> list[Any]:
    """Return values that are as wrong as one, more often than not."""
    if isinstance(value, bool) or value is None:
        return []
    return [f"{value}x", f"y{value}"] if isinstance(value, str) else [value + 1, value - 1]


def leaves(value: Any, steps: Steps) -> Iterator[Steps]:
    """Yield the places of all texts and numbers in a value that stands at a place."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if parts is None:
        yield steps
    for step, part in parts or ():
        yield from leaves(part, (*steps, step))


def there(document: Any, steps: Steps) -> bool:
    """Tell whether a place exists."""
    try:
        at(document, steps)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def faults(response: Response) -> Iterator[tuple[str, Cause]]:
    yield from ((rule, finding) for rule, finding in response.findings if isinstance(finding, Cause))


def test_a_stored_fault_is_forgiven_and_the_same_fault_of_another_value_is_not() -> None:
    tried = 0
    for document in broken():
        for rule, cause in faults(validated(document)):
            steps = cause.path.steps
            if rule in {"schema", *_NOT_OF_UPDATES} or isinstance(cause, Required) or not there(document, steps):
                continue
            if isinstance(at(document, steps), dict | list) and cause.value is not None and not _whole(cause, document):
                continue  # the rule names the part of it that it minds
            for leaf in islice(leaves(at(document, steps), steps), 2):
                for other in others(at(document, leaf)):
                    if rule in _MAY_SHRINK and other < at(document, leaf):
                        continue
                    changed = with_value(document, leaf, other)
                    if _still(validated(changed), rule, cause):
                        tried += 1
                        assert _still(validated(changed, document), rule, cause), (rule, str(cause), leaf)
    assert tried > 150


def _whole(cause: Cause, document: dict[str, Any]) -> bool:
    return bool(cause.value == at(document, cause.path.steps))


def _still(response: Response, rule: str, cause: Cause) -> bool:
    """Tell whether a response rejects at the same place, by the same rule, for the same sort of fault."""
    return any(
        (name, one.path, type(one), one.message.split(":")[0])
        == (rule, cause.path, type(cause), cause.message.split(":")[0])
        for name, one in faults(response)
    )


def test_a_change_of_something_else_leaves_only_warnings() -> None:
    tried = 0
    for document in broken():
        template_at = next((steps for steps in _objects(document, ()) if steps[-1:] == ("template",)), None)
        if template_at is None or validated(document).allowed:
            continue
        stored = at(document, template_at)
        metadata = {**stored.get("metadata", {}), "annotations": {"example.com/unrelated": "yes"}}
        if stored.get("metadata", {}).get("annotations"):
            continue
        changed = with_value(document, template_at, {**stored, "metadata": metadata})
        refused = {rule for rule, _ in faults(validated(changed, document))}
        assert refused <= _OF_CHANGES, (document, validated(changed, document).causes)
        tried += 1
    assert tried > 100


def _objects(value: Any, steps: Steps) -> Iterator[Steps]:
    """Yield the places of all objects below a place."""
    for step, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(part, dict):
            yield (*steps, step)
        yield from _objects(part, (*steps, step))


def container(**fields: Any) -> dict[str, Any]:
    return {"name": "main", "image": "ding", **fields}


def with_volumes(*volumes: dict[str, Any], image: str = "ding") -> dict[str, Any]:
    return job(task("learner", template=template(volumes=list(volumes), containers=[container(image=image)])))


def with_mount(path: str, image: str = "ding", **words: Any) -> dict[str, Any]:
    mounts = [{"name": "v", "mountPath": path}]
    spec = template(volumes=[{"name": "v", "emptyDir": {}}], containers=[container(image=image, volumeMounts=mounts)])
    return job(task("learner", template=spec), **words)


DATA = {"name": "d", "hostPath": {"path": "/data"}}


@pytest.mark.parametrize(
    "old, new, refused",
    [
        (with_volumes(DATA), with_volumes({"name": "d", "hostPath": {"path": "/"}}), True),
        (with_volumes(DATA), with_volumes({"name": "d", "hostPath": {"path": "/data", "type": "Socket"}}), True),
        (with_volumes(DATA), with_volumes(DATA, image="newer"), False),
        (with_volumes(DATA), with_volumes({"name": "e", "emptyDir": {}}, DATA), False),
        (with_volumes(DATA), with_volumes(DATA, {"name": "e", "hostPath": {"path": "/data"}}), True),
        (with_mount("/etc/volcano", plugins={"svc": []}), with_mount("/etc/volcano/x", plugins={"svc": []}), True),
        (
            with_mount("/etc/volcano", plugins={"svc": []}),
            with_mount("/etc/volcano", "new", plugins={"svc": []}),
            False,
        ),
        (
            with_mount("/etc/volcano", plugins={"svc": []}),
            with_mount("/etc/volcano", plugins={"svc": ["--disable-network-policy"]}),
            False,
        ),
    ],
    ids=[
        "a folder of the host becomes its root",
        "and a socket",
        "another image beside it",
        "it stands elsewhere in the list",
        "one more",
        "another mount where the plugin's files belong",
        "another image beside the mount",
        "another argument of the plugin",
    ],
)
def test_a_fault_is_another_if_what_the_user_wrote_is(old: dict[str, Any], new: dict[str, Any], refused: bool) -> None:
    assert not validated(old).allowed
    names = {"pods_keep_to_the_security_level_of_their_namespace", "plugins_can_be_carried_out"}
    response = validated(new, old)
    result = [cause for rule, cause in faults(response) if rule in names and not isinstance(cause, Required)]
    assert bool(result) is refused, response.causes


def test_two_long_keys_that_print_alike_are_not_taken_for_one() -> None:
    def torch(key: str) -> dict[str, Any]:
        tasks = {key: {"template": template(containers=[container(image="")])}}
        kind = {"apiVersion": "train.distributed.io/v1alpha1", "kind": "TorchJob"}
        return {**kind, "metadata": {"name": "a"}, "spec": {"torchTaskSpecs": tasks}}

    old, new = (torch("a" * 500 + middle + "b" * 500) for middle in "xy")
    fault = "pod_templates_make_sound_pods"
    assert any(rule == fault for rule, _ in faults(validated(old)))
    assert any(rule == fault for rule, _ in faults(validated(new, old)))
