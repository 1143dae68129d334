"""What more kinds cost than the built-in ones: Volcano Jobs under other names, as a package brings them."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import orjson

from bench.comparison import bodies, jobs
from bench.growth.probe import probing
from bench.growth.series import Point, Series
from crdgen import Names
from jobgate.kinds import ENTRY_POINT
from jobgate.kinds.common.binding import bind
from jobgate.kinds.vcjob import VCJOB
from jobgate.kinds.vcjob.models import RESOURCE
from jobgate.kinds.vcjob.operator import VOLCANO
from webhook import Kind

_GROUP, _ROOT = "bench.example.com", Path(__file__).parent.parent.parent


def __getattr__(name: str) -> Kind:
    """Return a kind by the name that an entry point gives, as `TrialJob7`."""
    if not name.startswith("TrialJob"):
        raise AttributeError(name)
    resource = replace(RESOURCE, group=_GROUP, names=Names(kind=name))
    return bind(resource, operator=VOLCANO, defaults=VCJOB.defaults, rules=VCJOB.rules)


def served(count: int) -> dict[str, Point]:
    """Measure a start with so many kinds more, and a mutation of a job of the last."""
    with tempfile.TemporaryDirectory(prefix="jobgate-bench-") as folder:
        record = Path(folder) / "trial-1.dist-info"
        record.mkdir()
        (record / "METADATA").write_text("Metadata-Version: 2.1\nName: trial\nVersion: 1\n", encoding="utf-8")
        entries = "".join(f"trial{number} = {__name__}:TrialJob{number}\n" for number in range(count))
        (record / "entry_points.txt").write_text(f"[{ENTRY_POINT}]\n{entries}", encoding="utf-8")
        with probing(environment={"PYTHONPATH": f"{folder}:{_ROOT}"}) as probe:
            start = Point(count, probe.server.cpu() * 1000, probe.server.peak())
            last = f"TrialJob{count - 1}"
            job = {**jobs.job("Job", 3, 1), "kind": last, "apiVersion": f"{_GROUP}/v1alpha1"}
            body = orjson.dumps(orjson.loads(bodies.review(job, f"{last.lower()}s", 1)))
            milliseconds, answered = probe.cost(f"/mutate-bench-example-com-v1alpha1-{last.lower()}", [body])
            return {"start": start, "a mutation": Point(count, milliseconds, None, answered)}


KINDS = Series("kinds", "Kinds beside the built-in", "kinds", "(start; a mutation)", (1, 10, 50, 200), served)
