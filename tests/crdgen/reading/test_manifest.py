"""Manifests are read as by kubectl's libraries, errors have a line and a column, and no bytes break the reader."""

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crdgen.reading import MAX_DEPTH, UnreadableManifest, path_text, read, read_value, read_values
from tests.crdgen.reading.oracle.answers import ask, golden
from tests.crdgen.reading.oracle.corpus import CORPUS

ANSWERS = golden()
HEAD = b"apiVersion: v1\nkind: ConfigMap\n"
#: Texts that kubectl reads and we reject.
REJECTED = {
    *("value {a: ,b:}", "binary as a key", "a merge key tagged"),
    *('value !!int "12"', "value !!float 1", "value !!float 0x10", "value !!bool yes", 'value !!bool "y"'),
    *("value !!null", 'value !!null ""', "value !!merge x", "value !!foo 12", "value !!binary aGk="),
    *("value !!binary /w==", "value !!timestamp 2026-01-01", 'value !!timestamp "2026-01-01"'),
    "value !!timestamp 2026-1-1t1:2:3.5+01:00",
    *("floats as keys", "unusual floats as keys", "keys beyond 32-bit floats"),
    *("text after the end", "a broken text after the end", "YAML and two of JSON"),
    *("JSON and YAML without a separator", "a hard space and JSON"),
    "a PodList with null",
}
#: Unusual texts that kubectl rejects or reads differently (docs/reference/crdgen-fidelity.md).
LISTED = {
    *("value .5_0", "value 0b-1", "value 0b+1", 'value "\\/"', "a merge of a list's alias"),
    *("JSON with a number too large", "JSON with bad UTF-8", "JSON and a short comment"),
    "JSON beyond where kubectl looks",
}


def sent(text: bytes) -> str | None:
    """Return the objects that we would send, as comparable text; None if the text is rejected."""
    try:
        return json.dumps([manifest.object for manifest in read(text, "f.yaml")], sort_keys=True)
    except UnreadableManifest:
        return None


def expected(answer: dict[str, object]) -> str | None:
    return None if "error" in answer else json.dumps(answer.get("objects", []), sort_keys=True)


@pytest.mark.parametrize("name", [name for name in CORPUS if name not in REJECTED | LISTED])
def test_manifests_are_read_as_by_kubectl(name: str) -> None:
    assert sent(CORPUS[name]) == expected(ANSWERS[name])


@pytest.mark.parametrize("name", sorted(REJECTED))
def test_texts_that_only_kubectl_reads_are_rejected(name: str) -> None:
    assert expected(ANSWERS[name]) is not None
    assert sent(CORPUS[name]) is None


@pytest.mark.parametrize("name", sorted(LISTED))
def test_listed_texts_are_read_differently(name: str) -> None:
    assert sent(CORPUS[name]) not in {None, expected(ANSWERS[name])}


def test_the_golden_file_covers_the_corpus() -> None:
    assert list(ANSWERS) == list(CORPUS)


def test_kubectls_libraries_still_give_the_recorded_answers() -> None:
    names = list(CORPUS)[::5]
    assert [expected(answer) for answer in ask([CORPUS[name] for name in names])] == [
        expected(ANSWERS[name]) for name in names
    ]


@pytest.mark.parametrize(
    ("case", "text", "message"),
    [
        ("a tab", HEAD + b"a:\n\tb: 1\n", "f.yaml:4:1: not YAML: found character that cannot start any token"),
        ("two values", HEAD + b"a: b: c\n", "f.yaml:3:5: not YAML: mapping values are not allowed in this context"),
        ("a later document", HEAD + b"---\n# c\nkind: A\n", "f.yaml:5:1: the document has no apiVersion: add it"),
        ("no kind", b"apiVersion: v1\n", "f.yaml:1:1: the document has no kind: add it, such as `kind: Job`"),
        ("a boolean kind", b"apiVersion: v1\nkind: y\n", "f.yaml:1:1: kind of the document must be a string"),
        ("a list", b"- a\n", "f.yaml:1:1: not a Kubernetes object: must be a mapping"),
        ("a broken item", b"apiVersion: v1\nkind: List\nitems:\n- kind: A\n", "f.yaml:4:3: items[0] has no apiVersion"),
        ("a template", HEAD + b"a: {{ b }}\n", "f.yaml:3:5: a key cannot be a mapping"),
        ("an unknown alias", HEAD + b"a: *x\n", "f.yaml:3:4: *x has no anchor"),
        ("an infinity", HEAD + b"a: .inf\n", "f.yaml:3:4: `inf` cannot be written as JSON"),
        ("a wrong tag", HEAD + b"a: !!int x\n", "f.yaml:3:4: the tag !!int is not supported"),
        (
            "text after the end",
            HEAD + b"...\n# c\na: 1\n",
            "f.yaml:5:1: not YAML: did not find expected <document start>",
        ),
        ("a word after a separator", HEAD + b"--- a\n", "f.yaml:3:4: only a comment may follow `---`"),
        ("broken JSON", b'{"kind": "A"\n "b": 1}', "f.yaml:2:2: not JSON: expecting ',' delimiter"),
        ("a late JSON mistake", b'{"apiVersion": "v1", "kind": "A"}\n{"kind": "A"}', "f.yaml:2:1: the document has no"),
        ("bad UTF-8", HEAD + b"a: \xff\n", "f.yaml:1:1: not YAML: "),
    ],
)
def test_an_error_has_a_position_and_a_problem(case: str, text: bytes, message: str) -> None:
    with pytest.raises(UnreadableManifest) as rejection:
        read(text, "f.yaml")
    assert str(rejection.value).startswith(message), case


def test_manifests_have_an_index_and_a_line() -> None:
    items = b"- {apiVersion: v1, kind: A}\n-\n  apiVersion: v1\n  kind: B\n"
    text = b"# c\n" + HEAD + b"---\napiVersion: v1\nkind: List\nitems:\n" + items
    manifests = [
        (manifest.file, manifest.index, manifest.line, manifest.object["kind"]) for manifest in read(text, "f")
    ]
    assert manifests == [("f", 0, 2, "ConfigMap"), ("f", 1, 8, "A"), ("f", 2, 10, "B")]


@pytest.mark.parametrize(
    ("case", "text", "duplicates"),
    [
        ("none", HEAD, [()]),
        ("at the top", HEAD + b"a: 1\na: 2\n", [(("a",),)]),
        ("deep", HEAD + b"a: [{b/c: {d: 1, d: 2}}]\n", [(("a", 0, "b/c", "d"),)]),
        ("by value", HEAD + b"1: a\n0x1: b\n", [(("1",),)]),
        ("a merge is none", HEAD + b"a: {<<: {b: 1}, b: 2}\n", [()]),
        (
            "per item",
            b"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: A}, {apiVersion: v1, kind: A, b: 1, b: 2}]\n",
            [(), (("b",),)],
        ),
    ],
)
def test_duplicate_keys_are_reported(case: str, text: bytes, duplicates: list[tuple[tuple[str, ...], ...]]) -> None:
    assert [manifest.duplicates for manifest in read(text, "f")] == duplicates, case


def test_values_that_share_an_anchor_are_separate_objects() -> None:
    manifest = read(HEAD + b"a: &x {b: 1}\nc: *x\n", "f")[0].object
    manifest["a"]["b"] = 2
    assert manifest["c"] == {"b": 1}


@pytest.mark.parametrize(
    ("case", "text"),
    [
        ("flow", HEAD + b"a: " + b"[" * 50_000),
        ("block", HEAD + b"a:\n" + b"- " * 50_000 + b"b\n"),
        ("JSON", b'{"apiVersion": "v1", "kind": "A", "a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}"),
        ("JSON just too deep", b'{"apiVersion": "v1", "kind": "A", "a": ' + b"[" * 200 + b"]" * 200 + b"}"),
        (
            "aliases",
            HEAD + b"a0: &a0 {b: 1}\n" + b"".join(b"a%d: &a%d {b: *a%d}\n" % (i, i, i - 1) for i in range(1, 500)),
        ),
    ],
)
def test_depth_is_limited(case: str, text: bytes) -> None:
    with pytest.raises(UnreadableManifest, match=f"nested too deep: at most {MAX_DEPTH} levels"):
        read(text, case)


@pytest.mark.parametrize(
    ("case", "unit"),
    [
        ("keys", b"a%d: b\n"),
        ("documents", b"---\napiVersion: v1\nkind: A%d\n"),
        ("keys twice", b"a: %d\n"),
        ("items with keys twice", b"- {apiVersion: v1, kind: A%d, a: 1, a: 2}\n"),
        ("quoted solidus", b'- "/%d \\\\/"\n'),
        ("JSON", b'{"apiVersion": "v1", "kind": "A%d"}' + b" " * 300 + b"\n"),
    ],
)
def test_reading_takes_linear_time(case: str, unit: bytes) -> None:
    def cost(count: int) -> float:
        head = b"" if unit[:1] == b"{" else b"apiVersion: v1\nkind: A\n"
        text = (
            head
            + (
                b"kind: List\nitems:\n"
                if "items" in case
                else b"l:\n"
                if unit[:1] == b"-" and unit[:3] != b"---"
                else b""
            )
        ) + b"".join(unit % number for number in range(count))
        start = time.process_time()
        assert read(text, case)
        return time.process_time() - start

    assert min(cost(5_000) for _ in range(2)) < 60 * max(cost(500), 0.01)


@pytest.mark.parametrize(
    ("case", "text", "message"),
    [
        ("a long text", b"b: [" + b"*a," * 5_000 + b"]", "aliases expand to far more than is written"),
        ("a long key", b"b: [" + b"*k," * 5_000 + b"]", "aliases expand to far more than is written"),
        ("merges", b"b: {" + b"<<: [*a, *k]," * 5_000 + b"}", "aliases expand|merges mappings"),
        ("as many as go-yaml reads", b"b: [" + b"*s," * 5_000 + b"]", ""),
    ],
)
def test_the_length_of_expanded_aliases_is_limited(case: str, text: bytes, message: str) -> None:
    anchors = b"a: &a '" + b"x" * 5_000 + b"'\nk: &k {'" + b"x" * 900 + b"': 1, c: *a}\ns: &s short\n"
    if not message:
        assert len(read(HEAD + anchors + text, case)[0].object["b"]) == 5_000
        return
    with pytest.raises(UnreadableManifest, match=message):
        read(HEAD + anchors + text, case)


def test_the_number_of_directives_is_limited() -> None:
    with pytest.raises(UnreadableManifest, match="f:1:1: more than 100 lines begin with %"):
        read(b"\n" + b"".join(b"%%TAG !a%d! b\n" % number for number in range(200)) + b"--- \na", "f")


def test_the_number_and_the_paths_of_duplicates_are_limited() -> None:
    (manifest,) = read(HEAD + b"'" + b"k" * 900 + b"':\n" + b"  a: 1\n" * 200, "f")
    assert len(manifest.duplicates) == 100
    assert path_text(manifest.duplicates[0]) == f"[{'k' * 120}…].a"


@pytest.mark.parametrize(
    ("case", "text", "expected"),
    [
        ("a mapping", b"a: [1, 1.5, 2026-01-01]", {"a": [1, 1.5, "2026-01-01"]}),
        ("nothing", b"# c\n---\n", None),
        ("a list", b"- a", ["a"]),
        ("JSON", b'{"a": 1}', {"a": 1}),
    ],
)
def test_settings_are_read_like_manifests(case: str, text: bytes, expected: object) -> None:
    assert read_value(text, case) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a: 1\nb: 1\na: 2", "f:1:1: the key a is there twice: remove one of them"),
        (b"a: 1\n---\nb: 1", "f:1:1: contains 2 documents: must contain one"),
        (b"a: [", "f:2:1: not YAML: "),
        (b"[" * 5_000, "nested too deep"),
    ],
)
def test_invalid_settings_are_rejected_with_their_position(text: bytes, message: str) -> None:
    with pytest.raises(UnreadableManifest) as rejection:
        read_value(text, "f")
    assert message in str(rejection.value)


def test_several_documents_can_be_read() -> None:
    assert read_values(b"a: 1\n---\n- b\n---\n# nothing", "f") == [{"a": 1}, ["b"]]


def test_no_other_module_loads_yaml() -> None:
    """YAML of users is read by `crdgen.reading`, which has limits. Other modules may load files of their package only."""
    exceptions = {"jobgate/doctor/finding.py", "jobgate/installation/monitoring.py"}
    root = Path(__file__).parents[3]
    sources = {
        str(file.relative_to(root)): file.read_text()
        for package in ("jobgate", "crdgen", "certs", "webhook")
        for file in (root / package).rglob("*.py")
    }
    loaders = {name for name, text in sources.items() if re.search(r"yaml\.\w*(load|parse|compose|scan)\w*\(", text)}
    assert loaders == {*exceptions, "crdgen/reading/documents.py"}


MARKS = rb"""- |---|...|{|}|[|]|: |,|a|&a |*a|<<: |!!int |!!binary |? |>|"|'|\|#| |1e9|%YAML |null|\ud800|items:"""
BREAKS = [b"|", b"\n", b"\r", b"\t", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe"]
OBJECTS = [b"apiVersion: v1\n", b"kind: A\n", b'{"kind": "A", "apiVersion": "v1"}']
PIECES = st.sampled_from([*MARKS.split(b"|"), *BREAKS, *OBJECTS])


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=40).map(b"".join)))
def test_arbitrary_bytes_are_read_or_rejected(text: bytes) -> None:
    try:
        objects = [manifest.object for manifest in read(text, "f")]
    except UnreadableManifest as error:
        position = (error.line, error.column)
        objects = []
    else:
        position = (1, 1)
    assert min(position) >= 1
    assert all(manifest["apiVersion"] and manifest["kind"] for manifest in objects)
    assert json.dumps(objects, allow_nan=False).encode()


PLACES = b"""# a comment
---
# Source: chart/templates/one.yaml
apiVersion: v1
kind: List
items:
- apiVersion: a.example.com/v1
  kind: A
  spec:
    flow: &flow {one: 1,  two: 2}
    list:
    - name: first
    - other: 1
    alias: *flow
    q.example.com/s: "x"
    empty:
"""


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        (("spec", "flow", "one"), (10, 23), (10, 18)),
        (("spec", "flow"), (10, 11), (10, 5)),
        (("spec", "list"), (11, 5), (11, 5)),
        (("spec", "list", 1), (13, 7), (13, 7)),
        (("spec", "list", 1, "other"), (13, 14), (13, 7)),
        (("spec", "list", 1, "missing"), (13, 7), (13, 7)),
        (("spec", "alias", "one"), (14, 5), (14, 5)),
        (("spec", "q.example.com/s"), (15, 22), (15, 5)),
        (("spec", "empty"), (16, 11), (16, 5)),
        (("spec", "missing", "below"), (9, 3), (9, 3)),
        (("missing",), (7, 3), (7, 3)),
    ],
)
def test_values_and_keys_have_places(path: tuple[str | int, ...], value: tuple[int, int], key: tuple[int, int]) -> None:
    (manifest,) = read(PLACES, "f")
    assert manifest.locate([path]) == {path: (value, key)}
    assert manifest.source == "chart/templates/one.yaml"


def test_values_in_json_have_places() -> None:
    *_, manifest = read(
        b'{"apiVersion": "v1", "kind": "A"}\n{"apiVersion": "v1",\n\t"kind": "B", "a": {"b": 3}}\n', "f"
    )
    assert manifest.locate([("a", "b")]) == {("a", "b"): ((3, 26), (3, 21))}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (b"image: {tag: 1}\n", 0),
        (b"- a\n---\nname: x\n", 0),
        (b"apiVersion: v2\nname: chart\n", 0),
        (HEAD + b"---\nreplicas: 1\n", 1),
    ],
)
def test_documents_that_are_no_objects_can_be_left_out(text: bytes, number: int) -> None:
    assert len(read(text, "f", others=True)) == number
    with pytest.raises(UnreadableManifest):
        read(text, "f")


def test_an_object_that_lacks_one_of_its_types_is_not_left_out() -> None:
    with pytest.raises(UnreadableManifest, match="the document has no apiVersion"):
        read(b"kind: A\nmetadata: {name: a}\n", "f", others=True)
