"""The handbook's pages are what the code gives, and say it of every field, default and rule."""

import pytest

from jobgate.installation.files import stale
from jobgate.installation.handbook import page, title
from jobgate.jobs.kind import JobKind
from jobgate.kinds import SCHEMAS, built_in
from jobgate.kinds.dijob import DIJOB
from tools.kind_pages import FOLDER, pages, schemas


def test_the_committed_pages_and_schemas_are_what_the_code_gives() -> None:
    assert stale(pages(), FOLDER) == []
    assert stale(schemas(), SCHEMAS) == []


@pytest.mark.parametrize("kind", built_in(), ids=title)
def test_a_page_has_a_line_for_each_default_and_rule(kind: JobKind) -> None:
    text = page(kind)
    for name in (*(default.__name__ for default in kind.defaults), *(rule.name for rule in kind.rules)):
        assert f"- **{name.replace('_', ' ')}**: " in text


def test_a_page_has_a_row_for_each_field_and_none_for_those_of_kubernetes() -> None:
    text = page(DIJOB)
    for row in (
        '| `spec.priority` | `normal`, `high` | `"normal"` |',
        "| `spec.tasks` | list of object, at least 1, at most 1000 | required |",
        "| `spec.tasks[].template` | PodTemplateSpec | required |",
        "| `spec.tasks[].dependsOn.name` | list of string, at most 1000 |  |",
        "| `spec.volumes` | list of Volume, at most 1000, by `name` |  |",
        "| `status.taskStatus` | map of map of int32 |  |",
        "| `spec.tasks[*].type` | before the job starts |",
    ):
        assert row in text
    assert "spec.tasks[].template.spec" not in text
