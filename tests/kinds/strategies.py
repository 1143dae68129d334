"""Jobs, sound and odd: examples of which some parts are replaced, left out, doubled, or called otherwise."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from jobgate.jobs.kind import JobKind
from tests.corpus import BROKEN, GOOD, jobs
from tests.kinds.samples import sample_of

#: Values that are right for one field or another, and those that nearly are.
ODD: list[Any] = [
    *(None, True, False, 0, 1, 2, 3.0, 1.5, -1, 65536, 2**31 - 1, 2**31, 2**63),
    *("", "3", "a", "A_b", "*", "root", "hard", "learner", "none", "None", "high", "Running", "Always", "PodFailed"),
    *("Master", "local", "WORKER", "a1b2", "restricted", "1500m", "1e1.5"),
    *([], {}, [{}], [None], {"a": "b"}, {"Master": None}, [{"name": "v", "emptyDir": {}}], [{"name": "RANK"}]),
    *({"requests": {"nvidia.com/gpu": 1}}, {"limits": {"hugepages-2Mi": "2Gi"}}, {"mpi": ["--port=x"], "ray": []}),
]
#: Keys that few examples have.
KEYS = ("name", "generateName", "unknown", "RuntimeId", "PsRootPort", "clenPodPolicy", "minMembers", "partitionPolicy")
EXAMPLES = [job for file in (*GOOD, *BROKEN) for job in jobs(file)]


def jobs_of(kind: JobKind) -> st.SearchStrategy[dict[str, Any]]:
    """Return jobs of a kind."""
    names = kind.gvk.api_version, kind.kind
    result = [each for each in (*EXAMPLES, *sample_of(kind).jobs) if (each["apiVersion"], each["kind"]) == names]
    return st.builds(changed, st.sampled_from(result), st.lists(CHANGES, max_size=5))


CHANGES = st.tuples(st.integers(0, 2000), st.sampled_from(["set", "drop", "double", "rename"]), st.sampled_from(ODD))


def changed(job: dict[str, Any], changes: list[tuple[int, str, Any]]) -> dict[str, Any]:
    """Return a job with changes: which place, what happens to it, and the value that it may get."""
    result: dict[str, Any] = json.loads(json.dumps(job))  # which shares nothing, as YAML does
    for number, change, value in changes:
        # The places that are deep down are many, so each second change is near the top.
        places = [place for place in _places(result) if number % 2 or place[2] < 4]
        owner, key, _ = (places or [(result, "spec", 0)])[number // 2 % max(len(places), 1)]
        if change == "drop":
            owner.pop(key, None) if isinstance(owner, dict) else owner.pop(key)
        elif change == "double" and isinstance(owner, list):
            owner.append(deepcopy(owner[key]))
        elif change == "rename" and isinstance(owner, dict):
            name = (*KEYS, key.lower(), key.upper())[number % (len(KEYS) + 2)]
            owner[name] = owner.pop(key, value)
        else:
            owner[key] = deepcopy(value)
    return result


def _places(job: dict[str, Any]) -> list[tuple[Any, Any, int]]:
    """Return each place in a job's metadata and spec: what holds it, its key there, and how deep it is."""
    return [each for each in _below(job, 0) if each[2] or each[1] in {"metadata", "spec"}]


def _below(value: Any, depth: int) -> Iterator[tuple[Any, Any, int]]:
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key, depth
        yield from _below(value[key], depth + 1)
