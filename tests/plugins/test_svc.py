"""The plugin svc: pods are found by name, and know the names of all others."""

from typing import Any

import pytest

from jobgate.plugins import Crew, CrewContainer
from jobgate.plugins.limits import CONFIG_LIMIT
from jobgate.plugins.svc import Svc, SvcArguments, length_of_lists, lists_fit_into_pods
from tests.plugins.crews import crew, drafted, part, pod, reported, variables, wired
from webhook import Path

PATH = Path("spec.plugins[svc]")
NO_LISTS = SvcArguments.model_validate({"inject-hosts-env": False})


def one(*parts: Any, arguments: SvcArguments | None = None, **fields: Any) -> Crew:
    return crew(*parts, **{"plugins": {"svc": arguments or SvcArguments()}} | fields)


def findings_of(of: Crew, **flags: bool) -> list[str]:
    arguments = SvcArguments.model_validate({flag.replace("_", "-"): value for flag, value in flags.items()})
    return reported(Svc().check(of, arguments, PATH))


def objects(of: Crew, **flags: bool) -> dict[str, Any]:
    arguments = SvcArguments.model_validate({flag.replace("_", "-"): value for flag, value in flags.items()})
    return {manifest.manifest["kind"]: manifest.manifest for manifest in Svc().objects(of, arguments)}


TWO = (part("learner", 1), part("data-loader", 3))


def test_a_pod_is_called_as_its_operator_calls_it_and_found_by_the_service() -> None:
    spec = wired(pod(), one(*TWO), "data-loader", 2)["spec"]
    assert (spec["hostname"], spec["subdomain"]) == ("train-data-loader-2", "train")


def test_a_pod_keeps_the_name_that_it_has_and_gets_it_as_a_variable() -> None:
    after = wired(pod(hostname="own", subdomain="di-train"), one(*TWO, service="di-train"), "learner")
    assert (after["spec"]["hostname"], after["spec"]["subdomain"]) == ("own", "di-train")
    assert variables(after)["VC_HOST"] == "own.di-train"


def test_the_lists_are_variables_and_files() -> None:
    after = wired(pod(), one(*TWO), "learner")
    assert variables(after) == {"VC_HOST": "train-learner-0.train"} | {
        name: {"configMapKeyRef": {"name": "train-svc", "key": name}}
        for name in ("VC_LEARNER_HOSTS", "VC_LEARNER_NUM", "VC_DATA_LOADER_HOSTS", "VC_DATA_LOADER_NUM")
    }
    assert after["spec"]["volumes"] == [{"name": "train-svc", "configMap": {"name": "train-svc"}}]
    (container,) = after["spec"]["containers"]
    assert container["volumeMounts"] == [{"name": "train-svc", "mountPath": "/etc/volcano", "readOnly": True}]


def test_init_containers_have_them_too_and_containers_of_others_have_not() -> None:
    of = one(part(containers=(CrewContainer("main"), CrewContainer("fetch", init=True))))
    after = wired(pod("main", "sidecar", initContainers=[{"name": "fetch"}]), of)
    assert variables(after) == variables(after, "fetch")
    assert variables(after, "sidecar") == {}
    assert "volumeMounts" not in after["spec"]["containers"][1]


def test_without_the_variables_the_files_and_the_own_name_stay() -> None:
    after = wired(pod(), one(*TWO, arguments=NO_LISTS), "learner")
    assert list(variables(after)) == ["VC_HOST"]
    assert after["spec"]["containers"][0]["volumeMounts"][0]["mountPath"] == "/etc/volcano"


def test_wired_again_a_pod_stays_as_it_is() -> None:
    assert drafted(wired(pod(), one(*TWO), "learner"), one(*TWO), "learner").patch == []


def test_an_operator_that_sees_to_it_itself_is_left_to_it() -> None:
    assert drafted(pod(), one(provided=frozenset({"svc"}))).patch == []


@pytest.mark.parametrize(
    "of, data",
    [
        (one(*TWO), {
            "learner.host": "train-learner-0.train",
            "VC_LEARNER_HOSTS": "train-learner-0.train",
            "VC_LEARNER_NUM": "1",
            "data_loader.host": "train-data-loader-0.train\ntrain-data-loader-1.train\ntrain-data-loader-2.train",
            "VC_DATA_LOADER_HOSTS": "train-data-loader-0.train,train-data-loader-1.train,train-data-loader-2.train",
            "VC_DATA_LOADER_NUM": "3",
        }),
        (one(part("worker", 2, subdomain="own")), {
            "worker.host": "train-worker-0.own\ntrain-worker-1.own",
            "VC_WORKER_HOSTS": "train-worker-0.own,train-worker-1.own",
            "VC_WORKER_NUM": "2",
        }),
        (one(part("worker", 2, hostname="boss", subdomain="own")), {
            "worker.host": "boss.own", "VC_WORKER_HOSTS": "boss.own", "VC_WORKER_NUM": "1",
        }),
        (one(part("worker", 0)), {"worker.host": "", "VC_WORKER_HOSTS": "", "VC_WORKER_NUM": "0"}),
        (one(part("worker", 0, hostname="boss")), {"worker.host": "", "VC_WORKER_HOSTS": "", "VC_WORKER_NUM": "0"}),
    ],
)  # fmt: skip
def test_the_lists_are_volcanos(of: Crew, data: dict[str, str]) -> None:
    result = objects(of)["ConfigMap"]
    assert result == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "train-svc"}, "data": data}
    assert length_of_lists(of) == sum(map(len, [*data, *data.values()]))


@pytest.mark.parametrize("publish", [False, True])
def test_the_service_has_no_address_and_finds_the_jobs_pods(publish: bool) -> None:
    assert objects(one(*TWO), publish_not_ready_addresses=publish)["Service"] == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "train"},
        "spec": {
            "clusterIP": "None",
            "selector": {"example.com/job": "train"},
            "publishNotReadyAddresses": publish,
        },
    }


def test_if_the_operator_makes_the_service_nobody_else_does() -> None:
    of = one(*TWO, service="di-train", service_made=True)
    assert list(objects(of)) == ["ConfigMap", "NetworkPolicy"]
    assert "train-learner-0.di-train" in objects(of)["ConfigMap"]["data"]["learner.host"]


def test_the_network_policy_lets_the_jobs_own_pods_in_and_no_others() -> None:
    labels = {"matchLabels": {"example.com/job": "train"}}
    assert objects(one(*TWO))["NetworkPolicy"] == {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "train"},
        "spec": {"podSelector": labels, "policyTypes": ["Ingress"], "ingress": [{"from": [{"podSelector": labels}]}]},
    }
    assert list(objects(one(*TWO), disable_network_policy=True)) == ["ConfigMap", "Service"]


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 99, 100, 101, 1000, 12_345])
@pytest.mark.parametrize("hostname", ["", "boss"])
def test_the_length_of_lists_is_known_without_making_them(count: int, hostname: str) -> None:
    of = one(part(replicas=count, hostname=hostname), part("learner", 12))
    data = objects(of)["ConfigMap"]["data"]
    assert length_of_lists(of) == sum(map(len, [*data, *data.values()]))


@pytest.mark.parametrize(
    "of, expected",
    [
        (one(*TWO), []),
        (one(part(replicas=5000)), []),
        (one(part(replicas=6500)), ["notice: spec.plugins[svc]: the host lists of 6500 pods in 1 task are too large for the environment: the variables VC_<TASK>_HOSTS and VC_<TASK>_NUM are not set. Set --inject-hosts-env=false and read the files in /etc/volcano"]),
        (one(part(replicas=6500), arguments=NO_LISTS), []),
        (one(part(replicas=6500), provided=frozenset({"svc"})), ["notice: spec.plugins[svc]: the host lists of 6500 pods in 1 task are too large for the environment: containers cannot start with them. Set --inject-hosts-env=false, if the operator supports it, and read the files in /etc/volcano"]),
        (one(part(replicas=25_000)), ["spec.plugins[svc]: Forbidden: the host lists of 25000 pods in 1 task have 1227822 bytes, and the limit of a ConfigMap is 1048576: use fewer pods or shorter names for the job and its tasks, or remove svc"]),
        (one(part(replicas=2**31 - 1)), ["spec.plugins[svc]: Forbidden: the host lists of 2147483647 pods in 1 task have 126626796647 bytes, and the limit of a ConfigMap is 1048576: use fewer pods or shorter names for the job and its tasks, or remove svc"]),
        (one(*(part(f"p{place}") for place in range(3000))), ["notice: spec.plugins[svc]: the host lists of 3000 pods in 3000 tasks are too large for the environment: the variables VC_<TASK>_HOSTS and VC_<TASK>_NUM are not set. Set --inject-hosts-env=false and read the files in /etc/volcano"]),
    ],
)  # fmt: skip
def test_what_is_too_large_is_reported_with_numbers(of: Crew, expected: list[str]) -> None:
    assert reported(Svc().check(of, of.plugins["svc"], PATH)) == expected


def test_keys_count_against_a_config_map_as_values_do() -> None:
    def of(count: int, name: int) -> Crew:
        return one(*(part(f"{place:04}".rjust(name, "p"), hostname="h" * 470, subdomain="s") for place in range(count)))

    values, keys = (
        sum(map(len, texts)) for texts in zip(*objects(of(1000, 4))["ConfigMap"]["data"].items(), strict=True)
    )
    assert keys + values <= CONFIG_LIMIT
    assert "ConfigMap" not in objects(of(1000, 60))


def test_the_limits_are_met_to_the_byte() -> None:
    """Linux starts a process with a text of 131,072 bytes, its NUL among them, and with none longer."""

    def names(extra: int) -> Crew:
        return one(part("worker", hostname="h" * extra, subdomain="s"))

    fits = 131_072 - len("VC_WORKER_HOSTS=") - len(".s") - 1
    assert lists_fit_into_pods(names(fits))
    assert not lists_fit_into_pods(names(fits + 1))


def test_many_lists_that_each_fit_may_be_too_many_together() -> None:
    def of(count: int) -> Crew:
        return one(*(part(f"p{place}", hostname="h" * 100_000, subdomain="s") for place in range(count)))

    assert lists_fit_into_pods(of(5))
    assert not lists_fit_into_pods(of(6))


def test_a_job_whose_lists_no_config_map_holds_gets_none_and_its_pods_no_variables() -> None:
    of = one(part(replicas=2**31 - 1))
    assert list(objects(of)) == ["Service", "NetworkPolicy"]
    assert list(variables(wired(pod(), of))) == ["VC_HOST"]
    assert length_of_lists(of) > CONFIG_LIMIT


@pytest.mark.parametrize(
    "parts, expected",
    [
        (part(volumes=frozenset({"train-svc"})),
         ["spec.plugins[svc]: Forbidden: task worker has a volume train-svc, a name reserved for the host lists: rename it"]),
        (part(volumes=frozenset({"svc", "train"})), []),
        (part(containers=(CrewContainer("main", mounts=("/data", "/etc/volcano")),)),
         ["spec.plugins[svc]: Forbidden: container main of task worker mounts a volume at /etc/volcano, a path reserved for the host lists: use another path"]),
        (part(containers=(CrewContainer("fetch", init=True, mounts=("/etc/volcano/",)),)),
         ["spec.plugins[svc]: Forbidden: container fetch of task worker mounts a volume at /etc/volcano/, a path reserved for the host lists: use another path"]),
        (part(containers=(CrewContainer("main", mounts=("/etc/volcano/more",)),)),
         ["spec.plugins[svc]: Forbidden: container main of task worker mounts a volume at /etc/volcano/more, a path reserved for the host lists: use another path"]),
        (part(containers=(CrewContainer("main", mounts=("/etc", "/etc/volcanoes", "/volcano", "", "/")),)), []),
        (part(replicas=2, hostname="boss"),
         ["notice: spec.plugins[svc]: task worker sets hostname: all 2 pods have the host name boss"]),
        (part(replicas=1, hostname="boss"), []),
    ],
)  # fmt: skip
def test_an_object_in_the_way_is_reported(parts: Any, expected: list[str]) -> None:
    assert findings_of(one(parts)) == expected


def test_what_to_publish_has_no_effect_on_a_service_that_the_operator_makes() -> None:
    of = one(service="di-train", service_made=True)
    assert findings_of(of) == []
    assert findings_of(of, publish_not_ready_addresses=True) == [
        "notice: spec.plugins[svc]: --publish-not-ready-addresses has no effect: the operator creates the Service di-train"
    ]


@pytest.mark.parametrize("made, things", [(False, ["Service", "volume"]), (True, ["volume"])])
def test_what_is_named_after_the_job_is_listed(made: bool, things: list[str]) -> None:
    assert [each.thing for each in Svc().derived(one(service_made=made), SvcArguments())] == things


def test_a_part_with_a_fixed_name_has_one_host_however_many_replicas_it_asks_for() -> None:
    many = part("learner", 2**31 - 1, hostname="fixed")
    assert one(many).hosts(many) == ["fixed.train"]
