"""DIJobs, sound and odd."""

import copy
from typing import Any

from hypothesis import strategies as st

from tests.kinds.dijob.jobs import template

#: Values that are right for one field or another, and those that nearly are; each a copy, as JSON shares nothing.
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, 0, 1, 2, 3.0, 1.5, -1, 2**31 - 1, 2**31, 2**63, "", "3", "learner", "none", "None", "high",
     "Running", "a", "A_b", [], {}, [{}], [None], {"a": "b"}]
).map(copy.deepcopy)  # fmt: skip
CONTAINER = st.fixed_dictionaries(
    {"name": st.sampled_from(["main", "di-container", "A"]), "image": st.just("ding")},
    optional={
        "resources": st.fixed_dictionaries(
            {},
            optional={
                side: st.dictionaries(
                    st.sampled_from(["cpu", "memory", "nvidia.com/gpu", "hugepages-2Mi"]),
                    st.sampled_from([1, "1", "2Gi", "1e1.5", None, 0.5]),
                    max_size=2,
                )
                | ODD
                for side in ("limits", "requests")
            },
        )
        | ODD
    },
)
TASK = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["a", "b", "learner"]) | ODD,
        "type": st.sampled_from(["learner", "collector", "none"]) | ODD,
        "replicas": st.integers(1, 5) | ODD,
        "template": st.lists(CONTAINER, max_size=2).map(lambda containers: template(containers=containers)) | ODD,
    },
)
SPEC = st.fixed_dictionaries(
    {},
    optional={
        "priority": ODD,
        "cleanPodPolicy": ODD,
        "preemptible": ODD,
        "backoffLimit": ODD,
        "minReplicas": ODD,
        "maxReplicas": ODD,
        "volumes": st.just([{"name": "v", "emptyDir": {}}]) | ODD,
        "tasks": st.lists(TASK, max_size=3) | ODD,
        "unknown": ODD,
    },
)
METADATA = st.fixed_dictionaries({}, optional={"name": st.just("job") | ODD, "generateName": ODD}) | ODD
JOB = st.fixed_dictionaries(
    {"apiVersion": st.just("diengine.opendilab.org/v2alpha1"), "kind": st.just("DIJob")},
    optional={"metadata": METADATA, "spec": SPEC | ODD, "status": ODD},
)
