"""Plain jobs: what the narrower schema accepts, the schema accepts, and no family of pod checks finds anything in it."""

from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from itertools import islice
from typing import Any

import pytest

from crdgen.reading import read
from jobgate import podchecks
from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.kind import JobKind
from jobgate.jobs.schema import StructuralSchema
from jobgate.kinds import built_in
from jobgate.rules.templates import built_pods
from tests.corpus import GOOD
from tests.kinds.samples import task_places
from tests.podchecks.templates import PLAIN
from tests.podchecks.test_plain import changed
from webhook import Path
from webhook.review import defaulted
from webhook.view import view

Json = dict[str, Any]
KINDS = {kind.kind: kind for kind in built_in()}


@cache
def good(name: str) -> Json:
    """Return a good example of a kind, with its defaults."""
    kind = KINDS[name]
    for file in GOOD:
        for manifest in read(file.read_bytes(), file.name):
            document: Json = manifest.object
            if (document.get("apiVersion"), document.get("kind")) == (
                kind.gvk.api_version,
                kind.kind,
            ):
                return defaulted(kind, document, Context(namespace="default")).value
    raise LookupError(name)


def with_template(kind: JobKind, template: Mapping[str, Any]) -> Json:
    document = deepcopy(good(kind.kind))
    for _, task in task_places(kind, document):
        task["template"] = template
    return document


def assert_one_sided(kind: JobKind, document: Json) -> bool:
    """Assert that nothing is wrong with a job that the fast check accepts, and return whether it accepts the job."""
    assert isinstance(kind.schema, StructuralSchema)
    kind.schema.compile()
    if not kind.schema.accepts(document):
        return False
    assert not kind.schema.check(document)
    job: Job[Any] = Job(kind, document, view(kind.spec, document["spec"])[0])
    for result in built_pods(job, Context()):
        assert result.plain
        assert not [finding for family in podchecks.FAMILIES for finding in family.check(result.pod, Path())]
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_a_good_job_of_each_kind_is_plain(kind: str) -> None:
    assert assert_one_sided(KINDS[kind], good(kind))


@pytest.mark.parametrize("place, name", list(enumerate(PLAIN)))
def test_a_job_that_is_plain_fits_however_a_template_is_changed(place: int, name: str) -> None:
    kind = list(KINDS.values())[place % len(KINDS)]
    assert assert_one_sided(kind, with_template(kind, PLAIN[name]))
    plain = [
        assert_one_sided(kind, with_template(kind, template))
        for template in islice(changed(PLAIN[name]), place % 13, None, 13)
    ]
    assert not all(plain)


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_that_is_plain_fits_however_the_rest_of_it_is_changed(kind: str) -> None:
    plain = [assert_one_sided(KINDS[kind], document) for document in islice(changed(good(kind)), 0, None, 7)]
    assert not all(plain)
