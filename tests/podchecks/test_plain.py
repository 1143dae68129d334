"""Plain pods: accepting fast takes nothing away from what the families find."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from itertools import pairwise
from pathlib import Path as File
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import inspect

from crdgen.podtemplate import load
from crdgen.reading import read
from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.kind import JobKind
from jobgate.kinds import installed
from jobgate.podchecks import FAMILIES, check, plain
from jobgate.podchecks.family import Families, Family
from jobgate.podchecks.fitting import Never
from jobgate.podchecks.newer_fields import FIELDS
from jobgate.rules.templates import built_pods
from tests.corpus import GOOD, name_of
from tests.differential.pods.cases import sample
from tests.podchecks.templates import PLAIN
from webhook import Invalid
from webhook.cause import Cause, Notice
from webhook.path import Path
from webhook.review import defaulted
from webhook.view import view

#: What a value of a plain template is replaced by, and a key called: what is at a limit, beyond it, or of another type.
ANYTHING: list[Any] = [
    *(None, True, False, 0, 1, -1, 65536, 2**31, 2**53 + 1, 2**70, 1.5, 0.0),
    *("", "x", "X", "x\n", "\nx", " x", "-x", "x-", "a.b", "a/b", "a/b/c", "/a", "..", "a/../b", "a..b", "."),
    *("a" * 64, "a" * 300, "ä", "\ud800", "\x00", "true", "1", "1000m", "1.5", "1e3", "10Gi", "8ki", "0", "-1"),
    *("Always", "Never", "None", "In", "Gt", "Exists", "Localhost", "kubernetes.io/x", "requests.a/b"),
    *("example.com/gpu", "hugepages-2Mi", "Bidirectional", "CAP_SYS_ADMIN"),
    *({"requests": {"example.com/gpu": 0}}, ["orphan", "foregroundDeletion"]),
    *([], [None], ["x"], ["x", "x"], [{}], {}, {"x": None}, {"": "x"}, {"x": "x"}, {"name": "x"}),
]

#: The examples with pod templates: a JobFlow only names those of others.
WITH_PODS = [file for file in GOOD if file.parent.name != "jobflow"]

#: Values that fields may have.
VALUES: list[Any] = ["x", "Always", "Honor", "Enabled", 1, True, False, {}, [], None]


def all_that_is_found(pod: Mapping[str, Any]) -> list[Cause | Notice]:
    return [finding for family in FAMILIES for finding in family.check(pod, Path("template"))]


def assert_nothing_is_overlooked(pod: dict[str, Any]) -> None:
    expected = all_that_is_found(pod)
    assert list(check(pod, Path("template"))) == expected
    assert not (plain(pod) and expected)


def changed(template: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a template with each of its parts replaced, doubled, left out and called otherwise. It is always the same."""
    template = deepcopy(template)
    for parent, key in list(places(template)):
        before = parent[key]
        for value in (*ANYTHING, *([[*before, *before]] if isinstance(before, list) else ())):
            parent[key] = value
            yield template
        if isinstance(parent, dict):
            del parent[key]
            yield template
            for name in ANYTHING:
                if isinstance(name, str) and name not in parent:
                    parent[name] = before
                    yield template
                    del parent[name]
        parent[key] = before


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each object or list within a value with each key or place in it."""
    for key, child in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(child, dict | list):
            yield from places(child)


@pytest.mark.parametrize("name", PLAIN)
def test_what_people_write_is_plain(name: str) -> None:
    assert plain(PLAIN[name])


@pytest.mark.parametrize("file", WITH_PODS, ids=name_of)
def test_the_pods_of_every_good_example_are_plain(file: File) -> None:
    for manifest in read(file.read_bytes(), file.name):
        kind = installed().get(manifest.object["apiVersion"], manifest.object["kind"])
        assert isinstance(kind, JobKind)
        document = defaulted(kind, manifest.object, Context()).value
        result = list(built_pods(Job(kind, document, view(kind.spec, document["spec"])[0]), Context()))
        assert result
        assert all(each.plain for each in result)


@pytest.mark.parametrize("name", PLAIN)
def test_the_families_find_nothing_in_what_is_plain_however_a_template_is_changed(name: str) -> None:
    for template in changed(PLAIN[name]):
        assert_nothing_is_overlooked(template)


@pytest.mark.parametrize("family", list(FAMILIES), ids=lambda family: family.check.__module__.rpartition(".")[2])
def test_the_families_find_nothing_in_what_is_plain_whatever_a_key_of_theirs_holds(family: Family) -> None:
    template = deepcopy(PLAIN["a container with an image"])
    of_each = (template["metadata"], family.metadata), (template["spec"], family.spec)
    for part, keys in (*of_each, (template["spec"]["containers"][0], family.container)):
        for key in keys:
            before = part.get(key)
            for value in ANYTHING:
                part[key] = value
                assert_nothing_is_overlooked(template)
            part[key] = before
            if before is None:
                del part[key]


@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_the_families_find_nothing_in_what_is_plain_of_templates_put_together(data: st.DataObject) -> None:
    first, second = (deepcopy(PLAIN[name]) for name in data.draw(st.tuples(*[st.sampled_from(list(PLAIN))] * 2)))
    main = first["spec"]["containers"][0]
    main |= {
        key: value
        for key, value in second["spec"]["containers"][0].items()
        if data.draw(st.booleans()) or key not in main
    }
    first["spec"] |= {key: value for key, value in second["spec"].items() if key != "containers"}
    for parent, key in data.draw(st.lists(st.sampled_from(list(places(first))), max_size=2)):
        parent[key] = data.draw(st.sampled_from(ANYTHING))
    assert_nothing_is_overlooked(first)


def test_the_families_find_nothing_in_what_is_plain_of_the_pods_for_a_real_api_server() -> None:
    for case in sample(20260921):
        assert_nothing_is_overlooked(case.pod)


@pytest.mark.parametrize(
    "pod", [*ANYTHING, {"spec": None}, {"spec": {"containers": None}}, {"spec": {"containers": {}}}]
)
def test_no_json_makes_it_fail(pod: Any) -> None:
    assert not plain(pod)


def test_a_pod_is_not_plain_that_is_nested_without_end() -> None:
    nested: dict[str, Any] = {}
    for _ in range(100_000):
        nested = {"x": nested}
    assert not plain({"spec": {"containers": [{"name": "main", "image": "image", "env": nested}]}})


def placed(template: dict[str, Any], steps: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """Return a template with a value at some place, and what is missing on the way there."""
    part: Any = deepcopy(template)
    whole = part
    for step, following in pairwise(steps):
        empty: Any = [] if following == 0 else {}
        if step == 0 and not part:
            part.append(empty)
        part = part[0] if step == 0 else part.setdefault(step, empty)
    part[steps[-1]] = value
    return whole  # type: ignore[no-any-return]  # what it is a copy of


@pytest.mark.parametrize("path", FIELDS)
def test_no_pod_with_a_newer_field_is_plain(path: str) -> None:
    steps = ("spec", *(0 if step == "*" else step for step in path.split(".")))
    for template in PLAIN.values():
        for value in VALUES:
            assert not plain(placed(template, steps, value))


def test_a_family_is_called_for_its_keys_only() -> None:
    called: list[str] = []

    def family(name: str, **keys: Any) -> Family:
        def look(pod: Mapping[str, Any], path: Path) -> Iterator[Cause | Notice]:
            called.append(name)
            yield Invalid(path / name, None, "no")

        return Family(check=look, **keys)

    families = Families(
        [
            family("labels", metadata={"labels": Never}),
            family("host", spec={"hostPID": Never}),
            family("ports", container={"ports": list[int]}),
            family("name", needs=frozenset({"name"}), container={"name": str, "image": str}),
        ]
    )
    list(families.check({"spec": {"containers": [{"name": "a", "image": "b", "ports": [1]}]}}, Path()))
    assert called == []
    list(families.check({"spec": {"containers": [{"name": "a", "ports": ["b"]}]}}, Path()))
    assert called == ["ports"]
    list(families.check({"spec": {"hostPID": True, "initContainers": [{}]}}, Path()))
    assert called == ["ports", "host", "name"]


def unknown(shape: inspect.Type, schema: Mapping[str, Any], path: Path) -> Iterator[Path]:
    """Yield the keys of a plain type that are not in a schema."""
    if isinstance(shape, inspect.ListType):
        yield from unknown(shape.item_type, schema["items"], path / 0)
    elif isinstance(shape, inspect.StructType):
        for field in shape.fields:
            key, properties = field.encode_name, schema.get("properties", {})
            if key not in properties:
                yield path / key
            else:
                yield from unknown(field.type, properties[key], path / key)


def test_the_schema_of_pods_has_every_key_of_the_families() -> None:
    """The API server prunes any other key, so the family would never see it."""
    shape = inspect.type_info(FAMILIES.shape)
    assert [str(path) for path in unknown(shape, load()["PodTemplateSpec"], Path("template"))] == []


def test_one_key_has_one_plain_shape() -> None:
    def look(_: Mapping[str, Any], __: Path) -> Iterator[Cause | Notice]:
        yield from ()

    with pytest.raises(ValueError, match="ports"):
        Families([Family(check=look, spec={"ports": int}), Family(check=look, spec={"ports": str})])
    shared = Families([Family(check=look, spec={"ports": Never}), Family(check=look, spec={"ports": str})])
    assert shared.plain({"spec": {}})
    assert not shared.plain({"spec": {"ports": "x"}})
