"""MxJobs, sound and odd."""

import copy
from typing import Any

from hypothesis import strategies as st

from tests.kinds.mxjob.jobs import template
from tests.kinds.mxjob.test_accelerators import GPU

#: Values that are right for one field or another, and those that nearly are; each a copy, as JSON shares nothing.
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, 1, 3.0, 1.5, -1, 65536, 2**31, "", "3", "local", "WORKER", "a1b2", "A_b", [], {}, [{}], [None],
     {"a": "b"}]
).map(copy.deepcopy)  # fmt: skip


def fields(**strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return objects of these fields, each of which may be absent, or hold something odd."""
    return st.fixed_dictionaries({}, optional={key: value | ODD for key, value in strategies.items()})


AMOUNTS = st.dictionaries(st.sampled_from(["cpu", GPU, "example.com/npu"]), st.just(1), max_size=2) | ODD
NAMED = st.lists(fields(name=st.sampled_from(["drivers", "npu", "LD_LIBRARY_PATH"]), value=st.just("x"),
                        mountPath=st.sampled_from(["/npu", "/usr/local/nvidia"]), hostPath=st.just({"path": "/opt/npu"})),
                 max_size=2)  # fmt: skip
CONTAINER = fields(
    name=st.sampled_from(["mxnet", "other"]),
    image=st.just("i"),
    resources=fields(limits=AMOUNTS, requests=AMOUNTS),
    env=NAMED,
    volumeMounts=NAMED,
)
TEMPLATE = fields(
    spec=fields(containers=st.lists(CONTAINER, max_size=2), volumes=NAMED, restartPolicy=st.just("Never")),
    metadata=fields(labels=st.just({"job-name": "x"})),
)
ROLE = fields(
    replicas=st.integers(1, 3),
    mxReplicaType=st.sampled_from(["SCHEDULER", "SERVER", "WORKER"]),
    psRootPort=st.just(9000),
    PsRootPort=st.just(9000),
    template=TEMPLATE | st.builds(template),
)
SPEC = fields(
    jobMode=st.sampled_from(["local", "dist"]),
    runtimeId=st.just("a1b2"),
    RuntimeId=st.just("a1b2"),
    replicaSpecs=st.lists(ROLE, max_size=3),
)
JOB = st.fixed_dictionaries(
    {"apiVersion": st.just("mxnet.mlkube.io/v1beta1"), "kind": st.just("MxJob")},
    optional={"metadata": st.just({"name": "job"}) | ODD, "spec": SPEC | ODD, "status": ODD},
)
