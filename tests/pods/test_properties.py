"""Properties of every pod."""

import asyncio
from copy import deepcopy
from typing import Any

import jsonpatch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobgate.kinds.dijob import DIJOB
from jobgate.pods import Lookup, PodReviewer
from tests.kinds.dijob import jobs
from tests.pods.pods import OTHER_UID, UID, Cluster, Known, answer, job, owner
from tests.webhook.values import json_values
from webhook import Phase

TEMPLATE = jobs.template(initContainers=[{"name": "fetch", "image": "x"}])
JOB = job(
    {"name": "work", "replicas": 3, "template": TEMPLATE},
    plugins={"env": [], "svc": [], "ssh": []},
)
KNOWN = Known(JOB)
#: Containers that the template names, and others.
NAMED, OTHERS = {"main", "fetch"}, {"proxy", ""}


def _nearly(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Usually a valid value, and in one case of twelve any other."""
    return st.integers(0, 11).flatmap(lambda luck: strategy if luck else json_values)


variables = st.fixed_dictionaries(
    {"name": st.sampled_from(["MINE", "DI_RANK", "VC_TASK_INDEX", "DI_NODES"])},
    optional={"value": st.sampled_from(["0", "7", "x", ""])},
)
mounts = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "jobgate"]), "mountPath": st.sampled_from(["/etc/volcano", "/root/.ssh", "/data"])}
)
containers = st.fixed_dictionaries(
    {"name": st.sampled_from([*NAMED, *OTHERS])},
    optional={
        "image": st.just("x"),
        "env": st.none() | st.lists(variables, max_size=4),
        "volumeMounts": st.none() | st.lists(mounts, max_size=2),
        "securityContext": st.just(
            {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True}
        ),
    },
)
volumes: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "b"])}, optional={"emptyDir": st.just({})}
)
sound_specs = st.fixed_dictionaries(
    {"containers": st.lists(containers, min_size=1, max_size=3)},
    optional={
        "initContainers": st.none() | st.lists(containers, max_size=2),
        "volumes": st.none() | st.lists(volumes, max_size=2),
        "hostname": st.sampled_from(["mine", "train-work-0"]),
        "securityContext": st.just({"runAsNonRoot": True, "runAsUser": 1000, "fsGroup": 1000}),
    },
)
labels = st.fixed_dictionaries(
    {
        "diengine/operator": st.just("di-operator"),
        "diengine/job": st.sampled_from(["train", "train", "gone", "../x"]),
        "diengine/task-name": st.sampled_from(["work", "work", "rest"]),
    },
    optional={"jobgate.dev/kind": st.sampled_from(["dijobs.diengine.opendilab.org", "x"]), "app": json_values},
)
metadata = st.fixed_dictionaries(
    {"name": st.sampled_from(["train-work-0", "train-work-2", "train-work-9", "x"]), "labels": labels},
    optional={
        "ownerReferences": st.sampled_from([[owner()], [owner(OTHER_UID)], [], None, [None, 7, {}]]),
        "annotations": st.none() | st.dictionaries(st.sampled_from(["a", "b"]), st.just("c")),
    },
)
pods = st.fixed_dictionaries({"metadata": _nearly(metadata), "spec": _nearly(sound_specs)}, optional={"x": json_values})
ours = st.fixed_dictionaries(
    {
        "metadata": st.just(
            {
                "name": "train-work-1",
                "labels": {
                    "diengine/operator": "di-operator", "diengine/job": "train", "diengine/task-name": "work",
                },
                "ownerReferences": [owner(UID)],
            }
        ),
        "spec": sound_specs,
    }
)  # fmt: skip

quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def ask(document: Any, phase: Phase = Phase.MUTATE) -> Any:
    """Return the answer for a pod of a namespace with one job."""

    async def run() -> Any:
        return await answer(PodReviewer([(DIJOB, Lookup("DIJob", KNOWN, Cluster(JOB).fetch))]), document, phase)

    return asyncio.run(run())


def wired(document: dict[str, Any]) -> dict[str, Any]:
    response = ask(document)
    assert response.allowed, response.causes
    result: dict[str, Any] = jsonpatch.apply_patch(deepcopy(document), response.patch)
    return result


@quick
@given(document=pods | json_values)
def test_any_json_has_an_answer_and_stays_as_it_was(document: Any) -> None:
    before = deepcopy(document)
    for phase in Phase:
        response = ask(document, phase)
        assert response is None or response.to_review()["response"]["uid"] == "1"
    assert document == before


@quick
@given(document=ours)
def test_a_patch_applies_and_the_second_call_finds_nothing_missing(document: dict[str, Any]) -> None:
    wired_pod = wired(document)
    assert ask(wired_pod).patch == []
    assert ask(wired_pod, Phase.VALIDATE).allowed


@quick
@given(document=ours)
def test_only_containers_of_the_template_are_touched_and_nothing_of_the_users_is_lost(
    document: dict[str, Any],
) -> None:
    wired_pod = wired(document)
    for field, named in (("containers", "main"), ("initContainers", "fetch")):
        before, after = document["spec"].get(field) or [], wired_pod["spec"].get(field) or []
        assert len(before) == len(after)
        for old, new in zip(before, after, strict=True):
            if old["name"] != named:
                assert new == old
                continue
            assert {key: new[key] for key in old if key not in {"env", "volumeMounts"}} == {
                key: value for key, value in old.items() if key not in {"env", "volumeMounts"}
            }
            for key in ("env", "volumeMounts"):
                kept = [each for each in new.get(key) or [] if each.get("name") != "DI_RANK"]
                assert [entry for entry in old.get(key) or [] if entry.get("name") != "DI_RANK"] == [
                    item for item in kept if item in (old.get(key) or [])
                ]
            names = [variable["name"] for variable in new["env"]]
            users = [one["name"] for one in old.get("env") or []]
            assert all(names.count(name) == max(1, users.count(name)) for name in names)


@quick
@given(document=ours)
def test_nothing_is_put_in_that_the_restricted_profile_rejects(document: dict[str, Any]) -> None:
    wired_pod = wired(document)
    before = document["spec"]
    allowed = {"configMap", "secret", "downwardAPI", "projected", "emptyDir"}
    for volume in wired_pod["spec"].get("volumes") or []:
        assert volume in (before.get("volumes") or []) or set(volume) - {"name"} <= allowed
    assert wired_pod["spec"].get("securityContext") == before.get("securityContext")
    assert {"hostNetwork", "hostPID", "hostIPC", "hostUsers"}.isdisjoint(set(wired_pod["spec"]) - set(before))
    for field in ("containers", "initContainers"):
        for old, new in zip(before.get(field) or [], wired_pod["spec"].get(field) or [], strict=True):
            assert new.get("securityContext") == old.get("securityContext")
