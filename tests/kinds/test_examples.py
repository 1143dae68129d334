"""The examples without a cluster: good ones are taken as they are, broken twins rejected for what they announce."""

from pathlib import Path

import pytest

from crdgen.reading import read
from jobgate.installation.handbook import title
from jobgate.jobs.kind import JobKind
from jobgate.kinds import built_in, installed
from jobgate.offline.judge import ReviewOptions, judge
from tests.corpus import BROKEN, GOOD, compare, holds, name_of
from webhook import Operation

KINDS = installed()


@pytest.mark.parametrize("file", GOOD, ids=name_of)
def test_a_good_example_is_taken_whole_and_once_stored_it_is_not_changed_again(file: Path) -> None:
    for manifest in read(file.read_bytes(), file.name):
        verdict = judge(manifest.object, ReviewOptions(kinds=KINDS))
        assert verdict.reviewed
        assert verdict.allowed, verdict.status
        assert holds(verdict.document, manifest.object)
        again = judge(
            dict(verdict.document),
            ReviewOptions(kinds=KINDS, operation=Operation.UPDATE, stored=(verdict.document,)),
        )
        assert again.allowed, again.status
        assert again.patch == []


@pytest.mark.parametrize("file", BROKEN, ids=name_of)
def test_a_broken_example_is_rejected_for_what_it_announces_and_nothing_else(file: Path) -> None:
    for manifest in read(file.read_bytes(), file.name):
        verdict = judge(manifest.object, ReviewOptions(kinds=KINDS))
        assert verdict.status is not None
        compare(file, [f"{cause['field']}: {cause['message']}" for cause in verdict.status["details"]["causes"]])


@pytest.mark.parametrize("kind", built_in(), ids=title)
def test_each_kind_has_its_examples_and_pages(kind: JobKind) -> None:
    name = title(kind)
    assert (Path("examples") / name / "minimal.yaml").is_file()
    assert (Path("examples") / name / "full.yaml").is_file()
    assert list((Path("examples") / name / "broken").glob("*.yaml"))
    assert Path(f"docs/reference/differences/{name}.md").is_file()
    assert Path(f"docs/reference/kinds/{name}.md").is_file()
