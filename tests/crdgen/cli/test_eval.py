"""`crdgen eval` shows the result for an object, with the messages of `kubectl`."""

import io
import json
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from crdgen import crd, to_yaml
from crdgen.reading.documents import Document
from tests.crdgen.cli.conftest import Crdgen
from tests.crdgen.cli.shop import ORDER

HEAD = "apiVersion: shop.example.com/v1\nkind: Order\nmetadata:\n  name: one\n"


@pytest.fixture(autouse=True)
def _definition(folder: Path) -> None:
    (folder / "crd.yaml").write_text(to_yaml(crd(ORDER)))


def test_pruned_fields_and_defaults_are_shown(crdgen: Crdgen, folder: Path) -> None:
    (folder / "a.yaml").write_text(f"{HEAD}spec:\n  item: tea\n  cuont: 2\n  tags: null\n")
    answer = crdgen("eval a.yaml --crd crd.yaml")
    assert (answer.status, answer.out.splitlines()) == (
        0,
        [
            "a.yaml:7:3: warning: Order one: spec.cuont: 2 is pruned: the field is not declared [unknown-field]",
            "a.yaml:1: Order one: accepted",
            "  - spec.tags: null is removed",
            "  + spec.tags: [] is the default",
            "  + spec.count: 1 is the default",
            '  + spec.size: "small" is the default',
            "1 object: 0 errors, 1 warning",
        ],
    )
    assert crdgen("eval a.yaml --crd crd.yaml --strict").status == 1
    stored = yaml.safe_load(crdgen("eval a.yaml --crd crd.yaml -o yaml").out)
    assert stored["spec"] == {"item": "tea", "count": 1, "size": "small", "tags": []}


def test_rejections_have_the_words_of_kubectl_and_the_place_of_the_value(crdgen: Crdgen, folder: Path) -> None:
    (folder / "two.yaml").write_text(f"{HEAD}spec:\n  count: 0\n  size: vast\n")
    answer = crdgen("eval two.yaml --crd crd.yaml -q")
    assert answer.status == 1
    assert answer.out.splitlines() == [
        "two.yaml:5:1: error: Order one: spec.item: Required value: must be set [required]",
        "two.yaml:6:10: error: Order one: spec.count: Invalid value: 0: must be at least 1 [invalid]",
        'two.yaml:7:9: error: Order one: spec.size: Unsupported value: "vast": supported values: "small", "large" '
        "[not-supported]",
    ]
    (entry,) = json.loads(crdgen("eval two.yaml --crd crd.yaml -o json").out)
    assert entry["accepted"] is False
    assert {cause["field"] for cause in entry["causes"]} == {"spec.item", "spec.count", "spec.size"}
    assert [(finding["line"], finding["column"]) for finding in entry["findings"]] == [(5, 1), (6, 10), (7, 9)]


@pytest.mark.parametrize(("metadata", "name"), [("name: one", "one"), ("generateName: tea-", "a.yaml:1")])
def test_an_object_is_identified_by_its_name_or_line(crdgen: Crdgen, folder: Path, metadata: str, name: str) -> None:
    head = HEAD.replace("name: one", metadata)
    (folder / "a.yaml").write_text(f"{head}spec:\n  item: tea\n")
    assert crdgen("eval a.yaml --crd crd.yaml").out.startswith(f"a.yaml:1: Order {metadata.split()[1]}: accepted\n")
    (entry,) = json.loads(crdgen("eval a.yaml --crd crd.yaml -o json").out)
    assert entry["name"] == name


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        (HEAD.replace("Order", "Parcel"), 0, "0 objects: 0 errors, 0 warnings; 1 without CRD (Parcel.shop.example.com"),
        ("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n", 0, "0 warnings; 1 of built-in kinds\n"),
        (HEAD.replace("/v1", "/v9"), 1, "a.yaml:1:13: error: Order one: apiVersion: crd.yaml serves no "),
        ("", 0, "0 warnings; 1 file without objects\n"),
        ("apiVersion: [", 2, "a.yaml:2:1: error: not YAML: "),
        ("values: [", 0, "0 objects: 0 errors, 0 warnings\n"),
    ],
)
def test_only_what_can_be_judged_changes_the_exit_status(
    crdgen: Crdgen, folder: Path, text: str, status: int, message: str
) -> None:
    (folder / "a.yaml").write_text(text)
    answer = crdgen("eval a.yaml --crd crd.yaml")
    assert (answer.status, message in answer.out + answer.err) == (status, True), answer


def test_a_tree_is_read_with_its_crds(crdgen: Crdgen, folder: Path) -> None:
    for name in ("deep/er/good.yaml", "deep/bad.yaml", ".git/hidden.yaml", "chart/templates/t.yaml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{HEAD}spec: {{item: tea, count: {int('good' in name)}}}\n")
    (folder / "chart/Chart.yaml").write_text("apiVersion: v2\nname: a\n")
    (folder / "chart/templates/t.yaml").write_text(HEAD.replace("one", "'{{ .Release.Name }}'"))
    (folder / "list.yaml").write_text("items: {{ .Values.list }}\n")
    answer = crdgen("eval -R .")
    assert answer.out.splitlines() == [
        "deep/bad.yaml:5:26: error: Order one: spec.count: Invalid value: 0: must be at least 1 [invalid]",
        "2 objects: 1 error, 0 warnings; 1 of built-in kinds; 1 file without objects",
    ]
    assert "chart/templates/t.yaml: left out: a template of a Helm chart" in answer.err
    assert "list.yaml:1:9: a key cannot be a mapping" in answer.err
    assert crdgen("eval .").out.startswith("0 objects")
    assert crdgen("eval", "**/good.yaml", "deep/*/good.yaml", "--crd", "*.yaml", "-q").status == 0
    assert "nothing*: error: matches no file" in crdgen("eval nothing*").err


def test_of_several_crds_of_a_kind_the_first_that_serves_the_version_is_used(crdgen: Crdgen, folder: Path) -> None:
    text = (folder / "crd.yaml").read_text()
    (folder / "a-crd.yaml").write_text(text.replace("name: v1", "name: v2"))
    (folder / "z-crd.yaml").write_text(text.replace("maximum: 9", "maximum: 8"))
    (folder / "one.yaml").write_text(f"{HEAD}spec: {{item: tea, count: 9}}\n")
    answer = crdgen("eval .")
    assert (answer.status, answer.err) == (0, "z-crd.yaml:1: differs from crd.yaml:1, which is used instead\n")


def test_a_rendered_stream_names_its_templates(crdgen: Crdgen, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"---\n# Source: shop/templates/order.yaml\n{HEAD}spec: {{item: tea, count: 0}}\n"
    for output, place in (
        ("text", "shop/templates/order.yaml (<stdin>:7:26): error"),
        ("github", "::error file=shop/"),
    ):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        answer = crdgen("eval", "-", "--crd", "crd.yaml", "-q", "-o", output)
        assert answer.out.startswith(place)
    assert "line=" not in answer.out


def test_crds_of_a_cluster_are_read_with_kubectl(crdgen: Crdgen, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "bin/kubectl"
    program.parent.mkdir()
    program.write_text(f"""#!/bin/sh
case "$*" in *--context=none*) echo "error: no context exists" >&2; exit 1;; esac
cat {folder}/crds.yaml
""")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    (folder / "crd.yaml").rename(folder / "crds.yaml")
    (folder / "a.yaml").write_text(f"{HEAD}spec: {{item: tea, count: 0}}\n")
    assert crdgen("eval a.yaml --cluster").status == 1
    assert crdgen("eval a.yaml --context none") == (2, "", "crdgen eval: kubectl: error: no context exists\n")
    program.write_text(
        "#!/bin/sh\nprintf 'E1 memcache.go: refused\\nE1 memcache.go: refused\\nrefused\\n' >&2; exit 1\n"
    )
    assert crdgen("eval a.yaml --cluster").err == "crdgen eval: kubectl: refused\n"
    program.write_text("#!/bin/sh\nexit 3\n")
    assert crdgen("eval a.yaml --cluster").err == "crdgen eval: kubectl: exit status 3\n"
    monkeypatch.setenv("PATH", "/nowhere")
    assert "kubectl is not installed" in crdgen("eval a.yaml --cluster").err


def test_a_rule_that_fails_at_the_root_shows_no_object(crdgen: Crdgen, folder: Path) -> None:
    definition = crd(ORDER)
    root = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    root["x-kubernetes-validations"] = [{"rule": "self.metadata.name != 'one'", "message": "must not be one"}]
    (folder / "crd.yaml").write_text(to_yaml(definition))
    (folder / "a.yaml").write_text(f"{HEAD}spec: {{item: tea}}\n")
    answer = crdgen("eval a.yaml --crd crd.yaml -q")
    assert answer.out == "a.yaml:1:1: error: Order one: <nil>: Invalid value: must not be one [invalid]\n"


def test_the_crd_file_must_contain_a_crd(crdgen: Crdgen, folder: Path) -> None:
    (folder / "none.yaml").write_text(HEAD)
    assert "none.yaml: contains no CustomResourceDefinition" in crdgen("eval none.yaml --crd none.yaml").err


def test_an_update_is_compared_with_the_stored_object(crdgen: Crdgen, folder: Path) -> None:
    (folder / "old.yaml").write_text(f"{HEAD}spec:\n  item: tea\n  count: 0\n")
    (folder / "new.yaml").write_text(f"{HEAD}spec:\n  item: cake\n  count: 0\n")
    assert crdgen("eval new.yaml --crd crd.yaml").status == 1
    assert crdgen("eval new.yaml --crd crd.yaml --old old.yaml").status == 0


def test_a_crd_that_the_api_server_rejects_is_an_error(crdgen: Crdgen, folder: Path) -> None:
    (folder / "crd.yaml").write_text(to_yaml(crd(ORDER)).replace("scope: Namespaced", "scope: Galaxy"))
    (folder / "a.yaml").write_text(f"{HEAD}---\n{HEAD}")
    answer = crdgen("eval a.yaml --crd crd.yaml")
    assert answer.status == 2
    assert "error: orders.shop.example.com: spec.scope: " in answer.err
    assert answer.err.count("[rejected-crd]") == 1


def test_no_pattern_makes_it_slow(crdgen: Crdgen, folder: Path) -> None:
    """A backtracking matcher would take years; the limit is far above the time that is needed."""
    definition = crd(ORDER)
    spec = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["item"]["pattern"] = "^(a+)+$"
    (folder / "crd.yaml").write_text(to_yaml(definition))
    (folder / "a.yaml").write_text(f"{HEAD}spec:\n  item: {'a' * 100_000}!\n")
    began = time.process_time()
    answer = crdgen("eval a.yaml --crd crd.yaml")
    assert time.process_time() - began < 10
    assert answer.status == 1
    assert "must match ^(a+)+$" in answer.out


@pytest.mark.parametrize(
    ("stored", "is_found"),
    [
        (HEAD, True),
        (HEAD + "  namespace: a\n", True),
        (HEAD + "  namespace: b\n", False),
        (HEAD.replace("shop", "other"), False),
    ],
)
def test_a_stored_object_is_found_by_group_kind_name_and_namespace(
    crdgen: Crdgen, folder: Path, stored: str, is_found: bool
) -> None:
    (folder / "a.yaml").write_text(f"{HEAD}  namespace: a\nspec: {{item: tea}}\n")
    (folder / "old.yaml").write_text(f"{stored}spec: {{item: tea}}\n")
    answer = crdgen("eval a.yaml --crd crd.yaml --old old.yaml")
    note = "note: evaluated as new: --old contains no object of this kind and name (1 object)"
    assert (note in answer.out + answer.err) != is_found


def test_quoted_braces_hide_no_invalid_yaml(crdgen: Crdgen, folder: Path) -> None:
    text = f'{HEAD}spec:\n  item: "{{{{inputs.x}}}}"\n  # {{{{ a }}}}\n count: 1\n'
    (folder / "a.yaml").write_text(text)
    answer = crdgen("eval a.yaml --crd crd.yaml")
    assert (answer.status, "a.yaml:8:2: error: not YAML" in answer.err) == (2, True), answer
    (folder / "a.yaml").write_text(text + "  {{- if .Values.a }}\n")
    assert crdgen("eval a.yaml --crd crd.yaml").status == 2, "the template is elsewhere"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("note: |\n  hello {{ name }}\nspec: a: b\n", 2),
        ("note: >-\n  {{ if x }}\nspec: [\n", 2),
        ("note: hello {{ name }}\nspec: [\n", 2),
        ("note: '{{ name }}\n  more'\nspec: a: b\n", 2),
        ("note: |\n  hello\n {{ name }}\nspec: a: b\n", 0),
        ("{{ if a }}\nnote: |\n  hello {{ name }}\n{{ end }}\n", 0),
        ("note: {{ name }}\nspec: a: b\n", 0),
        ("note: a-{{ name }}: b: c\n", 0),
        ("# {{ name }}\nspec: a: b\n", 2),
    ],
)
def test_braces_in_a_scalar_make_no_template_of_a_file_that_is_no_yaml(
    crdgen: Crdgen, folder: Path, text: str, status: int
) -> None:
    (folder / "a.yaml").write_text(f"{HEAD}{text}")
    answer = crdgen("eval a.yaml --crd crd.yaml -o json")
    assert (answer.status, "left out" in answer.err) == (status, status == 0)
    assert [entry["rule"] for entry in json.loads(answer.out)] == ["unreadable"] * (status == 2)


def test_templates_among_the_crds_are_named(crdgen: Crdgen, folder: Path) -> None:
    (folder / "crds").mkdir()
    (folder / "crds/a.yaml").write_text((folder / "crd.yaml").read_text())
    (folder / "crds/b.yaml").write_text("{{ if .Values.crds }}\napiVersion: v1\n")
    (folder / "a.yaml").write_text(f"{HEAD}spec: {{item: tea, count: 1}}\n")
    assert "crds/b.yaml:1:2: " in (answer := crdgen("eval a.yaml --crd crds")).err, answer


def test_the_document_of_a_list_is_read_again_only_once(
    crdgen: Crdgen, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    located = Document.located

    def recorded(self: Document, paths: Iterable[tuple[str | int, ...]]) -> Document:
        read.append(self)
        return located(self, paths)

    monkeypatch.setattr(Document, "located", recorded)
    item = "- apiVersion: shop.example.com/v1\n  kind: Order\n  metadata: {name: one}\n  spec: {item: tea, count: 0}\n"
    (folder / "a.yaml").write_text("apiVersion: v1\nkind: List\nitems:\n" + 3 * item)
    answer = crdgen("eval a.yaml --crd crd.yaml")
    lines = [line.partition(": ")[0] for line in answer.out.splitlines()[:3]]
    assert (lines, len(read)) == (["a.yaml:7:28", "a.yaml:11:28", "a.yaml:15:28"], 1)
