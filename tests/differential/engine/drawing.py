"""Draws random requests: valid jobs, and jobs with a few or many mistakes, created and updated.

Requests depend only on the seed, schemas, examples and the jobs of benchmarks, not on the code of the review: two
checkouts with the same of these draw the same requests. Hypothesis would take ten times as long.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from random import Random
from typing import Any, Final, TypeAlias

import orjson
import yaml
from pydantic.alias_generators import to_camel

from bench.comparison import jobs
from crdgen import crd
from jobgate.installation.definitions import definition
from jobgate.jobs.runner import runner_of
from jobgate.kinds import built_in
from jobgate.rules.ignored import FIELDS
from tests.hostile import shapes
from tests.kinds.samples import sample_of

Json: TypeAlias = dict[str, Any]
Schema: TypeAlias = Mapping[str, Any]

ROOT: Final = Path(__file__).parents[3]
OWN_KIND: Final = ROOT / "examples" / "own-kind"

#: Flags of installations. A value that ends in `.yaml` is a file in `FILES`.
_RUN: Final = [kind for kind in built_in() if runner_of(kind)]
#: The kinds that an operator on a current cluster could run, too; and the others.
_ALL_RUN: Final = tuple(f"--run={kind.qualified_plural}" for kind in _RUN if not kind.runner.orphaned)
_ORPHANS: Final = tuple(f"--run={kind.qualified_plural}" for kind in _RUN if kind.runner.orphaned)
#: Capabilities that operators of the kinds may have.
_CAN: Final = [
    f"--operator-can={kind.plural}/{word}"
    for kind in built_in()
    for word in sorted({*map(to_camel, FIELDS), *getattr(kind.operator, "capabilities", ())})
]
FILES: Final = {
    f"{plural}.yaml": yaml.safe_dump(model.model_dump(mode="json", by_alias=True, exclude_none=True))
    for kind in built_in()
    for plural, model in sample_of(kind).settings.items()
}
_KIND_SETTINGS: Final = [word for name in FILES for word in ("--kind-settings", f"{name.removesuffix('.yaml')}={name}")]
SETTINGS: Final[tuple[tuple[str, ...], ...]] = (
    (),
    ("--mode", "warn"),
    _ALL_RUN,
    (*_ALL_RUN, "--queueing", "kubernetes"),
    (*_ALL_RUN, "--queueing", "kueue"),
    (*_ALL_RUN, "--queueing", "volcano", "--mode", "warn"),
    (*_ORPHANS, "--queueing", "coscheduling=gangs"),
    ("--queueing", "kueue"),
    ("--queueing", "coscheduling"),
    ("--queueing", "volcano=other"),
    tuple(_CAN[::2]),
    tuple(_CAN[1::2]),
    (*_KIND_SETTINGS, "--cluster-domain", "example.internal"),
    ("--job-pods", "5", "--without-plugin", "ssh"),
    ("--forgetful-writer", "system:serviceaccount:team:writer"),
    ("--without-kind", built_in()[-1].qualified_plural),
)

_ENFORCE, _WARN = "pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/warn"
NAMESPACES: Final = {
    "default": {},
    "baseline": {_ENFORCE: "baseline"},
    "restricted": {_ENFORCE: "restricted", f"{_ENFORCE}-version": "v1.34"},
    "warned": {_ENFORCE: "privileged", _WARN: "restricted"},
    "odd": {_ENFORCE: "Strict", _WARN: "baseline"},
}
_QUEUES: Final = {"default": "Open", "research": "Open", "closed": "Closed", "new": ""}
_USERS: Final[tuple[Json, ...]] = (
    {"username": "jane", "groups": ["system:authenticated"]},
    {"username": "root", "groups": ["system:masters"]},
    {"username": "system:serviceaccount:di-system:di-orchestrator"},
    {"username": "system:serviceaccount:team:writer"},
    {},
)

#: Values that are valid for some fields, and nearly valid ones.
_ODD: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, 2, 3.0, 1.5, -1, 137, 65536, 2**31 - 1, 2**31, 2**63),
    *("", "a", "A_b", "*", "root", "main", "learner", "none", "None", "Always", "default", "closed", "x" * 64),
    *("0", "1500m", "1e1.5", "5m", "-1s", "/dev/shm", "/", "../x", "1.2.3.4", shapes.NASTY, "a" * 300, "$(A)"),
    *([], {}, [{}], [None], {"a": "b"}, [{"name": "v", "emptyDir": {}}], [{"name": "RANK"}], ["a", "a"]),
)
#: Annotations and labels that the code reads, and others.
_METADATA: Final[Mapping[str, tuple[Any, ...]]] = {
    "jobgate.dev/prerequisites": ("mnist", "install-wget, mnist", "local", "gone", "", "A\n", 7, "mnist\nmnist"),
    "jobgate.dev/prerequisites-recorded": ('[{"name":"mnist","generation":1,"hash":"a"}]', "x"),
    "jobgate.dev/command": ("Resume", "Abort", "Restart", "Dance", ""),
    "jobgate.dev/admission": ("disabled",),
    "distributed.io/network-mode": ("host", "pod", ""),
    "distributed.io/enable-elastic-training": ("true", "false", "yes"),
    "kubectl.kubernetes.io/last-applied-configuration": ('{"spec":{"plugins":{"env":null}}}', "{", '{"spec":{}}'),
    "kueue.x-k8s.io/queue-name": ("research", "", "A b"),
    "scheduling.volcano.sh/queue-name": ("research", "closed"),
    "volcano.sh/preemptable": ("true", "x"),
    "example.com/owner": ("jane", "x" * 300),
    "-/": ("x",),
}
#: Values that rules look for, by key, in addition to the values in the examples.
_LOOKED_FOR: Final[Mapping[str, tuple[Any, ...]]] = {
    "name": (
        *("RANK", "WORLD_SIZE", "MASTER_ADDR", "VC_TASK_INDEX", "VK_TASK_INDEX", "DI_RANK", "DMLC_ROLE", "TASK_INDEX"),
        *("torch", "mxnet", "di-container", "main", "data", "drivers", "modelvolume", "dshm", "learner", "Worker"),
    ),
    "mountPath": ("/etc/volcano", "/root/.ssh", "/a:b", "/dev/shm", "/data", "/usr/local/nvidia", "a"),
    "timeout": ("1h2m", "0s", "-5m", "1x", "999999999h"),
    "events": (["PodFailed", "*"], ["JobUpdated"], ["Unknown", "PodPending"], ["PodFailed", "PodFailed"], []),
    "action": ("RestartPod", "RestartPartition", "RestartTask", "ResumeJob", "SyncJob"),
    "exitCode": (0, 1, 137, 256, -1),
    "queue": ("closed", "gone", "root", "new", "x" * 64, ""),
    "labels": (
        {"job-name": "a"},
        {"batch.kubernetes.io/job-name": "a"},
        {"volcano.sh/job-name": "a", "volcano.sh/task-spec": "a"},
        {"diengine/job": "a", "diengine/task-name": "a"},
        {"group-name": "train.distributed.io", "task-type": "worker", "replica-type": "a", "jobgate.dev/job": "a"},
        {"mxnet.mlkube.io": "", "runtime_id": "a", "mxnet_job_name": "a", "job_type": "WORKER"},
    ),
    "enableTorchElastic": (True,),
    "metadata": ({"name": "a"}, {"labels": {"a": "b"}}, {"annotations": {"jobgate.dev/prerequisites": "mnist"}}),
    "template": ({}, {"spec": {"containers": [{"name": "torch", "image": "a"}]}}),
    "dependsOn": ({"name": ["a", "gone"]}, {"name": ["learner"]}, [{"dependsOn": "Worker"}], [{"dependsOn": "Gone"}]),
    "plugins": ({"env": [], "svc": [], "ssh": []}, {"ssh": ["--ssh-port=x"]}, {"gone": []}, {"env": None}),
    "env": (
        [{"name": "MASTER_ADDR", "value": "a"}, {"name": "RANK", "value": "$(A)"}, {"name": "DMLC_NUM_SERVER"}],
        [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a']"}}}, {"name": "A"}],
    ),
    "hostNetwork": (True,),
    "securityContext": ({"privileged": True}, {"runAsUser": 0}, {"runAsNonRoot": True, "runAsUser": 1}, {}),
    "limits": ({"nvidia.com/gpu": 1}, {"cpu": "1500m"}, {"hugepages-2Mi": "2Gi"}, {"example.com/npu": "1"}),
}
_NAMES: Final = ("a", "train", "a.b", "A", "", "a" * 45, "a" * 63, "a" * 64, "1-a", "x\n", 7)
_STATUSES: Final[tuple[Json, ...]] = (
    {"phase": "Running"},
    {"phase": "Succeeded"},
    {"state": {"phase": "Running"}},
    {"state": {"phase": "Pending"}},
    {"conditions": [{"type": "Running", "status": "True"}]},
    {"conditions": [{"type": "Succeeded", "status": "True"}]},
    {},
)


@dataclass(frozen=True)
class Subject:
    """A kind, its schema, and jobs to start from, as JSON."""

    api_version: str
    kind: str
    plural: str
    schema: Schema
    good: Sequence[bytes] = ()
    broken: Sequence[bytes] = ()


@dataclass
class Place:
    """A value inside an object: its dict or list, its key, its depth, and its schema if that is known."""

    owner: Any
    key: Any
    depth: int
    schema: Schema = field(default_factory=dict)

    @property
    def value(self) -> Any:
        """The value."""
        return self.owner[self.key]


@cache
def subjects() -> tuple[Subject, ...]:
    """Return the built-in kinds and that of `examples/own-kind`."""
    sys.path.append(str(OWN_KIND))
    definitions = [*(definition(kind) for kind in built_in()), crd(resolve_name("sweepjob.models:RESOURCE"))]
    good = [*_examples("examples/*/*.yaml"), *_examples("examples/own-kind/examples/**/*.yaml"), *_benchmarked()]
    broken = _examples("examples/**/broken/*.yaml")
    return tuple(_subject(each["spec"], good, broken) for each in definitions)


def _subject(spec: Json, good: Sequence[Json], broken: Sequence[Json]) -> Subject:
    version = next(each for each in spec["versions"] if each["storage"])
    api_version, kind = f"{spec['group']}/{version['name']}", spec["names"]["kind"]
    jobs_of_kind = [
        [orjson.dumps(job) for job in documents if (job.get("apiVersion"), job.get("kind")) == (api_version, kind)]
        for documents in (good, broken)
    ]
    return Subject(api_version, kind, spec["names"]["plural"], version["schema"]["openAPIV3Schema"], *jobs_of_kind)


def _examples(pattern: str) -> list[Json]:
    return [
        document
        for file in sorted(ROOT.glob(pattern))
        for document in yaml.safe_load_all(file.read_text(encoding="utf-8"))
        if isinstance(document, dict)
    ]


def _benchmarked() -> Iterator[Json]:
    """Yield jobs of the benchmarks, most of them small."""
    for kind in jobs.KINDS:
        for warned in (False, True):
            for tasks in (1, 2, 3):
                yield jobs.job(kind, tasks, tasks, warned=warned)
    yield from (jobs.job(kind, 30, 1) for kind in jobs.ANY_SIZE)


@cache
def _known() -> Mapping[str, tuple[bytes, ...]]:
    """Return the values of good and broken jobs, as JSON, by key."""
    by_key: dict[str, dict[bytes, None]] = {}
    for subject in subjects():
        for text in (*subject.good, *subject.broken):
            for place in _below(orjson.loads(text), 0, {}):
                if isinstance(place.key, str) and place.key not in ("tasks", "spec", "metadata"):
                    by_key.setdefault(place.key, {})[orjson.dumps(place.value)] = None
    known = {key: tuple(values)[:60] for key, values in by_key.items()}
    more = {key: tuple(map(orjson.dumps, values)) for key, values in _LOOKED_FOR.items()}
    return {key: known.get(key, ()) + 3 * more.get(key, ()) for key in [*known, *sorted(more.keys() - known.keys())]}


def cluster() -> Json:
    """Return the objects of the cluster, by resource and then by namespace and name; and the files of settings."""
    objects: dict[str, Json] = {
        "namespaces.v1.": {f"/{name}": {"metadata": {"labels": labels}} for name, labels in NAMESPACES.items()},
        "queues.v1beta1.scheduling.volcano.sh": {
            f"/{name}": {"status": {"state": state} if state else {}} for name, state in _QUEUES.items()
        },
    }
    for item in _examples("examples/prerequisites/*.yaml"):
        if str(item.get("kind")).endswith("Prerequisite"):
            namespace = item["metadata"].get("namespace", "" if item["kind"].startswith("Cluster") else "default")
            resource = objects.setdefault(f"{item['kind'].lower()}s.v1alpha1.jobgate.dev", {})
            resource[f"{namespace}/{item['metadata']['name']}"] = item
    return {"objects": objects, "files": FILES}


def case(seed: int, number: int) -> Json:
    """Draw a case, with these fields:

    - `request`: the request of an AdmissionReview
    - `settings`: flags of the installation
    - `cluster`: whether all objects are known (`full`), only those of Kubernetes itself (`bare`), or nothing (`none`)
    - `stored`: whether the old object got its defaults when it was created
    - `mutated`: whether validation gets the object with its defaults, or without
    """
    chance = Random(f"{seed}/{number}")
    subject = chance.choice(subjects())
    old, new = _objects(chance, subject)
    operation = "CREATE" if old is None else "UPDATE"
    if chance.random() < 0.01:
        operation = chance.choice(("DELETE", "CONNECT"))
    metadata = new.get("metadata") if isinstance(new, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    request = {
        "uid": "1",
        "kind": dict(zip(("group", "version", "kind"), (*subject.api_version.split("/"), subject.kind), strict=True)),
        "operation": operation,
        "name": name if isinstance(name, str) else "",
        "namespace": chance.choices((*NAMESPACES, "unknown"), (20, 3, 3, 2, 1, 1))[0],
        "userInfo": chance.choices(_USERS, (8, 2, 2, 1, 1))[0],
        "object": new,
        "oldObject": old,
    }
    if chance.random() < 0.01:
        request["subResource"] = chance.choice(("status", "scale"))
    return {
        "settings": chance.choice(SETTINGS) if chance.random() < 0.6 else (),
        "cluster": chance.choices(("full", "bare", "none"), (6, 1, 3))[0],
        "stored": chance.random() < 0.7,
        "mutated": chance.random() < 0.8,
        "request": request,
    }


def _objects(chance: Random, subject: Subject) -> tuple[Any, Any]:
    """Draw the old and the new object; the old one is None at a CREATE."""
    first = _edited(chance, subject, _base(chance, subject), chance.choices((0, 1, 2, 4, 10), (10, 6, 3, 2, 1))[0])
    if chance.random() < 0.55 or not isinstance(first, dict):
        return (None if chance.random() < 0.9 else {}), first
    if chance.random() < 0.4:
        first["status"] = chance.choice(_STATUSES)
    way = chance.choices(("small", "large", "metadata", "same", "other"), (10, 3, 3, 1, 1))[0]
    copied = orjson.loads(orjson.dumps(first))
    match way:
        case "small":
            return first, _edited(chance, subject, copied, chance.randint(1, 2))
        case "large":
            return first, _edited(chance, subject, copied, chance.randint(4, 15))
        case "metadata":
            for _ in range(chance.randint(1, 2)):
                _edit_metadata(chance, copied)
            return first, copied
        case "same":
            return first, copied
        case _:
            return first, _edited(chance, subject, _base(chance, subject), chance.randint(0, 2))


def _base(chance: Random, subject: Subject) -> Any:
    """Draw a job to start from."""
    way = chance.choices(("good", "broken", "drawn", "shape", "any"), (74, 10, 7, 7, 2))[0]
    if way == "broken" and subject.broken:
        return orjson.loads(chance.choice(subject.broken))
    if way == "drawn":
        job = orjson.loads(chance.choice(subject.good))
        spec = subject.schema["properties"]["spec"]
        job["spec"] = {**job["spec"], **_right(chance, spec, 0)}
        return job
    if way == "shape":
        return _shaped(chance, subject)
    if way == "any":
        return chance.choice((*_ODD, {"spec": chance.choice(_ODD)}, {"metadata": chance.choice(_ODD), "spec": {}}))
    return orjson.loads(chance.choice(subject.good))


def _shaped(chance: Random, subject: Subject) -> Any:
    """Draw a small job of a hostile shape."""
    kinds = {kind.gvk.kind: kind for kind in built_in()}
    kind = kinds.get(subject.kind) or chance.choice([*kinds.values()])
    shape: Callable[..., Any] = chance.choice((*shapes.OF_A_TEMPLATE, *shapes.OF_A_JOB))
    result = orjson.loads(orjson.dumps(shape(kind, chance.choice((1, 2, 5, 20))), option=orjson.OPT_NON_STR_KEYS))
    return {**result, "apiVersion": subject.api_version, "kind": subject.kind}


def _edited(chance: Random, subject: Subject, document: Any, edits: int) -> Any:
    """Edit a document several times."""
    for _ in range(edits if isinstance(document, dict) else 0):
        if chance.random() < 0.12:
            _edit_metadata(chance, document)
        elif places := _places(chance, subject, document):
            _edit(chance, chance.choice(places))
    return document


def _places(chance: Random, subject: Subject, document: Json) -> list[Place]:
    """Return places in a document, often only those near the top, which are fewer."""
    spec = document.get("spec")
    if not isinstance(spec, dict | list):
        return [Place(document, "spec", 0)] if "spec" in document else []
    deepest = chance.choice((1, 3, 4, 6, 99))
    schema = subject.schema["properties"]["spec"]
    return [
        Place(document, "spec", 0, schema),
        *(place for place in _below(spec, 1, schema, deepest) if place.depth <= deepest),
    ]


def _below(value: Any, depth: int, schema: Schema, deepest: int = 99) -> Iterator[Place]:
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        if isinstance(key, str):
            inner = schema.get("properties", {}).get(key) or schema.get("additionalProperties")
        else:
            inner = schema.get("items")
        place = Place(value, key, depth, inner if isinstance(inner, dict) else {})
        yield place
        if depth < deepest:
            yield from _below(value[key], depth + 1, place.schema, deepest)


_EDITS: Final = {"known": 4, "add": 4, "right": 2, "near": 2, "drop": 2, "odd": 1, "double": 1, "same": 1, "rename": 1}


def _edit(chance: Random, place: Place) -> None:
    """Make one edit at a place."""
    value = place.value
    way = chance.choices([*_EDITS], [*_EDITS.values()])[0]
    if way == "drop":
        del place.owner[place.key]
    elif way == "add" and isinstance(value, dict):
        _add(chance, value, place.schema)
    elif way == "double" and isinstance(value, list) and value:
        value.insert(chance.randrange(len(value) + 1), orjson.loads(orjson.dumps(chance.choice(value))))
    elif way == "same" and isinstance(value, list):
        _equal(chance, value)
    elif way == "rename" and isinstance(place.owner, dict) and isinstance(place.key, str):
        place.owner[chance.choice((place.key.upper(), place.key.lower(), f"{place.key}x", "name"))] = value
        place.owner.pop(place.key, None)
    elif way == "known" and place.key in _known():
        place.owner[place.key] = orjson.loads(chance.choice(_known()[place.key]))
    elif way == "near":
        place.owner[place.key] = _near(chance, value, place.schema)
    elif way == "odd":
        place.owner[place.key] = _odd(chance)
    else:
        place.owner[place.key] = _right(chance, place.schema, 2)


def _add(chance: Random, owner: Json, schema: Schema) -> None:
    """Add a field of the schema that the object does not have."""
    missing = sorted(schema.get("properties", {}).keys() - owner.keys())
    if not missing:
        owner[chance.choice(("a", "b", "main", "unknown"))] = _odd(chance)
        return
    key = chance.choice(missing)
    if key in _known() and chance.random() < 0.6:
        owner[key] = orjson.loads(chance.choice(_known()[key]))
    else:
        owner[key] = _right(chance, schema["properties"][key], 1)


def _equal(chance: Random, items: list[Any]) -> None:
    """Give two objects of a list the same value of a field."""
    objects = [item for item in items if isinstance(item, dict) and item]
    if len(objects) > 1:
        first, second = chance.sample(objects, 2)
        key = "name" if "name" in first and chance.random() < 0.5 else chance.choice([*first])
        second[key] = orjson.loads(orjson.dumps(first[key]))


def _edit_metadata(chance: Random, document: Json) -> None:
    """Make an edit in the metadata of the job, or of one of its pod templates."""
    templates = [
        place.value
        for place in _below(document.get("spec"), 0, {}, 3)
        if place.key == "template" and isinstance(place.value, dict)
    ]
    owner = chance.choice(templates) if templates and chance.random() < 0.3 else document
    metadata = owner.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        return
    way = chance.choice(("annotations", "annotations", "annotations", "labels", "name", "generateName", "other"))
    if way in ("annotations", "labels"):
        held = metadata.get(way)
        if not isinstance(held, dict):
            held = metadata[way] = {}
        key = chance.choice([*_METADATA])
        if key in held and chance.random() < 0.4:
            del held[key]
        else:
            held[key] = chance.choice(_METADATA[key])
    elif way == "other":
        metadata |= chance.choice(
            (
                {"finalizers": ["example.com/a"]},
                {"deletionTimestamp": "2026-09-01T08:00:00Z"},
                {"annotations": None},
                {"labels": ["a"]},
                {"managedFields": [{"manager": "kubectl"}]},
                {"unknown": 1},
            )
        )
    else:
        metadata[way] = chance.choice(_NAMES)


def _odd(chance: Random) -> Any:
    """Draw a value of any type."""
    return orjson.loads(orjson.dumps(chance.choice(_ODD)))


def _near(chance: Random, value: Any, schema: Schema) -> Any:
    """Draw a value just within or beyond a bound of the schema."""
    values: list[Any] = [None]
    for bound in ("minimum", "maximum"):
        if bound in schema:
            values += [schema[bound] - 1, schema[bound], schema[bound] + 1, float(schema[bound])]
    if "maxLength" in schema:
        values += ["a" * schema["maxLength"], "a" * (schema["maxLength"] + 1)]
    if "enum" in schema:
        values += [*schema["enum"], f"{schema['enum'][0]}x", str(schema["enum"][0]).lower()]
    if isinstance(value, str):
        values += [f"{value}-2", value.upper(), f" {value}", f"{value}\n", value * 5, ""]
    elif isinstance(value, int) and not isinstance(value, bool):
        values += [value + 1, value - 1, -value % 2**31, float(value), str(value), value * 1000 % 2**31]
    elif isinstance(value, list):
        values += [value[:-1], value[::-1], value * 2, {"0": value}]
    elif isinstance(value, dict):
        values += [[value], {**value, "unknown": 1}, dict(reversed(value.items()))]
    return orjson.loads(orjson.dumps(chance.choice(values)))


_TEXTS: Final = ("a", "main", "main", "data", "learner", "500m", "1Gi", "/data", "a.b/c", "10.0.0.1", "5m", "x-1")


def _right(chance: Random, schema: Schema, depth: int) -> Any:
    """Draw a value that is valid according to the schema, except for patterns."""
    if "enum" in schema:
        return chance.choice(schema["enum"])
    match schema.get("type"):
        case "object":
            value: Any = _right_object(chance, schema, depth)
        case "array":
            count = max(schema.get("minItems", 0), chance.randint(0, min(schema.get("maxItems", 2), 3)))
            value = [_right(chance, schema.get("items", {}), depth + 1) for _ in range(count)]
        case "integer" | "number":
            amount = schema.get("minimum", 0) + chance.choice((0, 0, 1, 1, 2, 3, 60, 8080))
            value = min(amount, schema.get("maximum", 2**31 - 1))
        case "boolean":
            value = chance.random() < 0.5
        case "string":
            value = chance.choice(_TEXTS)
        case _:
            value = chance.choice((1, "1", "metrics", "50%", "500m", _odd(chance)))  # most often an int or a text
    return value


def _right_object(chance: Random, schema: Schema, depth: int) -> Json:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    share = min(1.0, 3 / (len(properties) or 1)) / (1 + depth)
    drawn: Json = {}
    for key, inner in properties.items():
        if key in required or chance.random() < share:
            known = _known().get(key, ()) if chance.random() < 0.5 else ()
            drawn[key] = orjson.loads(chance.choice(known)) if known else _right(chance, inner, depth + 1)
    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        for _ in range(chance.randint(0, 2)):
            drawn[chance.choice(("a", "env", "svc", "ssh", "cpu", "memory", "nvidia.com/gpu", "Master", "Worker"))] = (
                _right(chance, values, depth + 1)
            )
    return drawn
