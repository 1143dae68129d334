"""Rules and defaults that look objects up: with those of files, with those of a cluster, and without any."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from crdgen import CustomResource, Model, Names, Version
from jobgate.api import (
    Cause,
    Context,
    Draft,
    FileObjects,
    Invalid,
    NotFound,
    Object,
    OtherVersion,
    Registry,
    ReviewOptions,
    Verdict,
    bind,
    judge,
    looks_up,
    rule,
)
from jobgate.cli import main
from jobgate.cluster import IncompleteError
from tests.installed import forget, install, on_path
from webhook import NotInstalled, UnknownObjects

CLASSES = "storageclasses.v1.storage.k8s.io"
BROKERS = "brokers.v2.example.com"
NAMESPACES = "namespaces.v1."


class BrokerSpec(Model):
    """A program that keeps topics."""

    limit: int = 5


class OlderSpec(Model):
    """The same in v1."""

    most: int = 3


class TopicSpec(Model):
    """A topic."""

    broker: str
    storage_class: str | None = None
    partitions: int | None = None


def resource(kind: str, *versions: Version) -> CustomResource:
    return CustomResource("example.com", Names(kind=kind), versions)


def up(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "spec": {"limit": document["spec"]["most"]}}


def down(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "spec": {"most": document["spec"]["limit"]}}


BROKER = bind(
    resource("Broker", Version("v2", spec=BrokerSpec), Version("v1", spec=OlderSpec, storage=False)),
    versions={"v1": OtherVersion(up, down)},
)


def partitions_are_those_of_the_broker(topic: Draft, context: Context) -> None:
    """As many as the broker allows."""
    spec = topic.at("spec")
    broker = context.objects.get(BROKERS, str(spec and spec.get("broker")), context.namespace)
    if spec is not None and broker is not None:
        spec.setdefault("partitions", broker["spec"]["limit"])


@rule("storage_class")
@looks_up(CLASSES)
def the_class_exists(topic: Object[TopicSpec], context: Context) -> Iterator[Cause]:
    """No volume is created of an unknown class."""
    name = topic.spec.storage_class or ""
    if name == "-":
        yield NotFound("spec.storageClass", name, "never exists")
    if context.objects.get(CLASSES, name) is None:
        yield NotFound("spec.storageClass", name, "no such class")


@rule("broker")
def forgotten(topic: Object[TopicSpec], context: Context) -> Iterator[Cause]:
    """Its author forgot to say what it looks up."""
    if topic.spec.broker == "forgotten":
        context.objects.get("secrets.v1.", "password", context.namespace)
    yield from ()


TOPIC = bind(
    resource("Topic", Version("v1", spec=TopicSpec)),
    defaults=(partitions_are_those_of_the_broker,),
    rules=(the_class_exists, forgotten),
    watches=(BROKERS,),
)
KINDS = Registry([TOPIC, BROKER])


def named(kind: str, name: str, api_version: str = "example.com/v1", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


def topic(**spec: Any) -> dict[str, Any]:
    return named("Topic", "orders", spec={"broker": "main", "partitions": 1, **spec})


def storage_class(name: str) -> dict[str, Any]:
    return named("StorageClass", name, "storage.k8s.io/v1", provisioner="csi.example.com")


def verdict(document: dict[str, Any], *beside: Mapping[str, Any], context: Any = ()) -> Verdict:
    objects = FileObjects(beside, context=context, kinds=KINDS)
    return judge(document, ReviewOptions(KINDS, objects=objects))


def texts(verdict: Verdict) -> list[str]:
    return [f"{rule}: {finding}" for rule, finding in verdict.findings]


UNKNOWN = (
    "the_class_exists: spec.storageClass: not checked: storageclasses.v1.storage.k8s.io 'fast' is not among the files: "
    "name one with it, or --context FILE"
)
NO_BROKER = (
    "partitions_are_those_of_the_broker: not checked: brokers.v2.example.com 'default/main' is not among the files: "
    "name one with it, or --context FILE"
)
MISSING = 'the_class_exists: spec.storageClass: Not found: "fast": no such class'
MAIN = named("Broker", "main", "example.com/v2", spec={"limit": 9})


@pytest.mark.parametrize(
    ("beside", "context", "findings"),
    [
        pytest.param([], [], [NO_BROKER, UNKNOWN], id="nothing is known"),
        pytest.param([MAIN], [storage_class("fast")], [], id="both exist"),
        pytest.param([MAIN, storage_class("fast")], [], [], id="the files have both"),
        pytest.param([MAIN, storage_class("other")], [], [UNKNOWN], id="the cluster may have more than the files"),
        pytest.param([MAIN], [storage_class("other")], [MISSING], id="the context has all of its resources"),
        pytest.param(
            [MAIN], [named("StorageClass", "fast", "storage.k8s.io/v1beta1")], [UNKNOWN], id="another version"
        ),
        pytest.param([MAIN], [named("StorageClass", "fast", "example.com/v1")], [UNKNOWN], id="another group"),
        pytest.param([MAIN], [{"kind": []}, {"metadata": 1}], [UNKNOWN], id="no objects"),
    ],
)
def test_a_look_up_is_answered_or_named(beside: Any, context: Any, findings: list[str]) -> None:
    found = verdict(topic(storageClass="fast"), *beside, context=context)
    assert texts(found) == findings
    assert found.allowed is (MISSING not in findings)


@rule()
@looks_up(NAMESPACES)
def the_team_works_in_the_namespace(topic: Object[Any], context: Context) -> Iterator[Cause]:
    labels = (context.objects.get(NAMESPACES, context.namespace) or {}).get("metadata", {}).get("labels", {})
    if "team" not in labels:
        yield Invalid("metadata.namespace", context.namespace, "has no label team")


@pytest.mark.parametrize(
    ("context", "findings"),
    [
        pytest.param(
            [], ["not checked: namespaces.v1. 'default' is not among the files: name one with it, or"], id="unknown"
        ),
        pytest.param([named("Namespace", "default", "v1")], ["has no label team"], id="without the label"),
        pytest.param([named("Namespace", "other", "v1")], ["has no label team"], id="the context lacks it"),
        pytest.param(
            [{**named("Namespace", "default", "v1"), "metadata": {"name": "default", "labels": {"team": ""}}}],
            [],
            id="with the label",
        ),
    ],
)
def test_a_namespace_is_unknown_unless_the_files_have_it(context: Any, findings: list[str]) -> None:
    kind = bind(resource("Topic", Version("v1", spec=TopicSpec)), rules=(the_team_works_in_the_namespace,))
    objects = FileObjects(context=context, kinds=Registry([kind]))
    found = judge(topic(), ReviewOptions(Registry([kind]), objects=objects)).findings
    assert [words in str(finding) for (_, finding), words in zip(found, findings, strict=True)] == [True] * len(
        findings
    )


@pytest.mark.parametrize(
    ("partitions", "beginnings"),
    [
        pytest.param(1, ["Not found: ", "not checked"], id="of a valid object"),
        pytest.param("many", ["Not found: "], id="of an object that the schema rejects, whose warnings nobody gets"),
    ],
)
def test_what_a_rule_found_before_is_kept(partitions: Any, beginnings: list[str]) -> None:
    found = texts(verdict(topic(storageClass="-", partitions=partitions), MAIN))
    of_rule = [text.partition(": spec.storageClass: ")[2] for text in found if "storageClass" in text]
    assert [text[:11] for text in of_rule] == beginnings


@pytest.mark.parametrize(
    ("broker", "partitions"),
    [
        pytest.param(MAIN, 9, id="as it is"),
        pytest.param(named("Broker", "main", "example.com/v2", spec={}), 5, id="with its defaults"),
        pytest.param(named("Broker", "main", spec={"most": 7}), 7, id="in another version"),
        pytest.param(named("Broker", "main", spec={}), 3, id="in another version, with the defaults of that"),
    ],
)
def test_objects_of_own_kinds_are_looked_up_as_the_cluster_stores_them(broker: Any, partitions: int) -> None:
    written = topic()
    del written["spec"]["partitions"]
    assert verdict(written, broker).document["spec"]["partitions"] == partitions


@pytest.mark.parametrize(
    ("namespace", "known"), [("", True), ("default", True), ("other", False)], ids=["none", "its own", "another"]
)
def test_an_object_is_looked_up_in_its_namespace(namespace: str, known: bool) -> None:
    broker = {**MAIN, "metadata": {"name": "main"} | ({"namespace": namespace} if namespace else {})}
    assert (NO_BROKER not in texts(verdict(topic(), broker))) is known


def test_what_no_server_would_know_is_a_mistake_of_the_kind() -> None:
    found = verdict(topic(broker="forgotten"), named("Broker", "forgotten", "example.com/v2", spec={}))
    assert texts(found) == [
        ": rule forgotten of Topic failed on this object: LookupError: secrets.v1. is not in `watches` of the kind, "
        "nor in @looks_up(…) of a rule"
    ]


class Failing:
    """A cluster that answers no look-up."""

    def __init__(self, error: type[LookupError]) -> None:
        self.error = error

    def get(self, resource: str, name: str, namespace: str = "") -> None:
        raise self.error(f"{resource} are not listed")


@pytest.mark.parametrize("error", [UnknownObjects, NotInstalled])
def test_a_rule_that_cannot_look_in_a_cluster_warns(error: type[LookupError]) -> None:
    found = judge(topic(storageClass="fast"), ReviewOptions(KINDS, objects=Failing(error)))
    assert found.allowed
    assert texts(found)[1:] == [f"the_class_exists: spec.storageClass: not checked: {CLASSES} are not listed"]


def test_a_rule_is_not_skipped_because_someone_filled_the_namespace() -> None:
    found = judge(topic(storageClass="fast"), ReviewOptions(KINDS, objects=Failing(IncompleteError)))
    assert not found.allowed
    assert "IncompleteError" in texts(found)[0]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the files of a user, whose kinds are installed."""
    entries = {"jobgate.kinds:topic": f"{__name__}:TOPIC", "jobgate.kinds:broker": f"{__name__}:BROKER"}
    install(tmp_path / "site", "topics", entries)
    with monkeypatch.context() as patch:
        on_path(tmp_path / "site", patch)
        patch.chdir(tmp_path)
        yield tmp_path
    forget()


def write(file: str, *documents: Any) -> str:
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text("\n---\n".join(map(json.dumps, documents)))
    return file


def review(*arguments: str, given: Any = None) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["review", *arguments], input=json.dumps(given), catch_exceptions=False)
    return done.exit_code, done.output


@pytest.mark.usefixtures("site")
def test_files_and_folders_and_standard_input_are_the_context() -> None:
    file = write("topic.json", topic(storageClass="fast"))
    write("cluster/classes.json", {"apiVersion": "v1", "kind": "List", "items": [storage_class("other")]})
    write("cluster/brokers.json", MAIN)
    assert review(file)[1].count("not checked") == 2
    code, output = review(file, "--context", "cluster")
    assert (code, "Not found" in output, "not checked" in output) == (1, True, False)
    code, output = review(file, "--context", "cluster", "--context", "-", given=storage_class("fast"))
    assert (code, "1 object: 0 errors, 0 warnings" in output) == (0, True), output
    assert review(file, "--context", "nothing.json")[0] == 2


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    "given, status, words",
    [
        ('{"apiVersion": "v1", "kind": "List", "items": []}', 0, "not checked"),  # it may be of any resource
        ("", 2, "<stdin>: contains no object"),
        ("# nothing\n", 2, "<stdin>: contains no object"),
    ],
)
def test_a_context_is_empty_only_as_a_list(given: str, status: int, words: str) -> None:
    file = write("topic.json", topic(storageClass="fast"), MAIN)
    done = CliRunner().invoke(main, ["review", file, "--context", "-"], input=given, catch_exceptions=False)
    assert (done.exit_code, words in done.output) == (status, True), done.output


@pytest.mark.usefixtures("site")
def test_what_was_not_checked_is_in_each_format() -> None:
    file = write("topic.json", topic(storageClass="fast"), MAIN)
    code, output = review(file)
    assert (code, f"warning: Topic orders: {UNKNOWN.partition(': ')[2]} [the_class_exists]" in output) == (0, True)
    (first, _) = json.loads(review(file, "--output", "json")[1])
    assert [finding["rule"] for finding in first["findings"]] == ["the_class_exists"]
    (run,) = json.loads(review(file, "--output", "sarif")[1])["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["the_class_exists"]


@pytest.mark.usefixtures("site")
def test_explain_takes_a_context() -> None:
    file = write("topic.json", topic(storageClass="fast"))
    write("context.json", storage_class("other"))
    arguments = ["explain", file, "--context", "context.json"]
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert (done.exit_code, 'Not found: "fast"' in done.output) == (1, True)
