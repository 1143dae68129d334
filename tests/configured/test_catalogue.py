"""Each entry of the catalogue, with its correct and its broken example."""

from pathlib import Path

import pytest

from crdgen.reading import read
from jobgate.configured.binding import configured
from jobgate.configured.catalogue import Catalogued, named_in_catalogue, names
from jobgate.jobs.context import Context
from jobgate.kinds import installed
from jobgate.offline.judge import ReviewOptions, Verdict, judge
from tests.corpus import CATALOGUE, compare
from webhook import Operation
from webhook.explain import explain
from webhook.object import object_of
from webhook.rule import call_rules

KINDS = Catalogued(installed())
GOOD = sorted(CATALOGUE.glob("*.yaml"))
BROKEN = sorted(CATALOGUE.glob("broken/*.yaml"))


def verdict(file: Path) -> Verdict:
    (manifest,) = read(file.read_bytes(), file.name)
    return judge(manifest.object, ReviewOptions(kinds=KINDS))


@pytest.mark.parametrize("name", names())
def test_each_entry_makes_a_kind_and_names_what_was_read(name: str) -> None:
    for entry in named_in_catalogue(name):
        assert entry.name == name, "the file is named <plural>.<group>"
        assert entry.plural == f"{entry.kind.lower()}s", "the file of a kind is found by its kind"
        for version in entry.versions:
            assert configured(entry, version).gvk == (entry.group, version, entry.kind)
    text = Path("jobgate/configured/catalogue", f"{name}.yaml").read_text(encoding="utf-8")
    assert text.startswith("# Read: https://")


def test_each_entry_has_both_examples() -> None:
    stems = {file.stem for file in GOOD}
    assert stems == {file.stem for file in BROKEN}
    assert stems >= set(names())


@pytest.mark.parametrize("file", GOOD, ids=lambda file: file.stem)
def test_a_correct_example_is_allowed_as_it_is(file: Path) -> None:
    result = verdict(file)
    assert result.reviewed
    assert result.status is None
    assert result.patch == []


@pytest.mark.parametrize("file", BROKEN, ids=lambda file: file.stem)
def test_a_broken_example_is_denied_for_what_it_announces(file: Path) -> None:
    status = verdict(file).status
    assert status is not None
    compare(file, [f"{cause['field']}: {cause['message']}" for cause in status["details"]["causes"]])


@pytest.mark.parametrize("file", BROKEN, ids=lambda file: file.stem)
def test_a_stored_fault_is_only_a_warning(file: Path) -> None:
    (manifest,) = read(file.read_bytes(), file.name)
    changed = {**manifest.object, "spec": {**manifest.object["spec"], "changed": True}}
    options = ReviewOptions(kinds=KINDS, operation=Operation.UPDATE, stored=(manifest.object,))
    result = judge(changed, options)
    assert result.allowed, result.status
    assert any("already stored; not enforced" in warning for warning in result.warnings)


@pytest.mark.parametrize("file", [*GOOD, *BROKEN], ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_an_object_that_is_accepted_fast_gets_the_findings_of_the_slow_check(file: Path) -> None:
    (manifest,) = read(file.read_bytes(), file.name)
    document, context = manifest.object, Context(namespace="team", name="training")
    kind = KINDS.get(document["apiVersion"], document["kind"])
    assert kind is not None
    findings = [*explain(kind, document, context, ratchets=False)]
    accepted = kind.accepted(document)
    if accepted is None:
        has_placeholders = "{{" in file.read_text(encoding="utf-8")
        assert file in BROKEN or has_placeholders, "most correct objects are accepted fast"
    else:
        rules = kind.when.rules(document, for_update=False)
        assert [*call_rules(rules, object_of(kind, document, accepted, fits=True), context)] == findings
