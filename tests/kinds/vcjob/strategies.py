"""Volcano Jobs, sound and odd."""

import copy
from typing import Any

from hypothesis import strategies as st

from tests.kinds.vcjob.jobs import template

#: Values that are right for one field or another, and those that nearly are; each a copy, as JSON shares nothing.
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, 1, 3.0, 1.5, -1, 2**31 - 1, 2**63, "", "a", "A_b", "hard", "*", [], {}, [{}], [None], {"a": "b"}]
).map(copy.deepcopy)
NAME = st.sampled_from(["a", "b", "master", ""])
COUNT = st.integers(0, 6) | ODD
POLICY = st.fixed_dictionaries(
    {},
    optional={
        "event": st.sampled_from(["*", "PodFailed"]) | ODD,
        "events": ODD,
        "exitCode": COUNT,
        "action": st.just("RestartJob") | ODD,
    },
)
TOPOLOGY = st.fixed_dictionaries({}, optional={"mode": ODD, "highestTierAllowed": COUNT, "highestTierName": ODD}) | ODD
PARTITIONS = st.fixed_dictionaries(
    {},
    optional={"totalPartitions": COUNT, "partitionSize": COUNT, "minPartitions": COUNT, "networkTopology": TOPOLOGY},
)
CONTAINER = st.fixed_dictionaries(
    {"name": st.sampled_from(["main", "A"]), "image": st.just("i")},
    optional={
        "resources": st.fixed_dictionaries(
            {},
            optional={
                side: st.dictionaries(
                    st.sampled_from(["cpu", "nvidia.com/gpu"]), st.sampled_from([1, "1", "1500m", "1e1.5", None])
                )
                | ODD
                for side in ("limits", "requests")
            },
        ),
        "volumeMounts": st.just([{"name": "v", "mountPath": "/a"}]) | ODD,
    },
)
TASK = st.fixed_dictionaries(
    {},
    optional={
        "name": NAME | ODD,
        "replicas": COUNT,
        "minAvailable": COUNT,
        "maxRetry": ODD,
        "template": st.builds(
            lambda containers, network: template(containers=containers, hostNetwork=network),
            st.lists(CONTAINER, max_size=2),
            st.booleans() | ODD,
        )
        | ODD,
        "topologyPolicy": st.just("restricted") | ODD,
        "partitionPolicy": PARTITIONS | ODD,
        "dependsOn": st.fixed_dictionaries({"name": st.lists(NAME, max_size=2)}) | ODD,
        "policies": st.lists(POLICY, max_size=2) | ODD,
    },
)
VOLUME = st.fixed_dictionaries(
    {},
    optional={
        "mountPath": st.sampled_from(["/a", "/b"]) | ODD,
        "volumeClaimName": NAME | ODD,
        "volumeClaim": st.just({"accessModes": ["ReadWriteOnce"]}) | ODD,
    },
)
PLUGINS = st.dictionaries(
    st.sampled_from(["svc", "ssh", "env", "mpi", "ray", "other"]),
    st.lists(st.sampled_from(["--master", "--master=a", "--port=x", "-", "--", "a", ""]), max_size=3) | ODD,
    max_size=3,
)
SPEC = st.fixed_dictionaries(
    {},
    optional={
        "tasks": st.lists(TASK, max_size=3) | ODD,
        "minAvailable": COUNT,
        "queue": st.just("root") | ODD,
        "maxRetry": ODD,
        "schedulerName": ODD,
        "plugins": PLUGINS | ODD,
        "policies": st.lists(POLICY, max_size=2) | ODD,
        "volumes": st.lists(VOLUME, max_size=3) | ODD,
        "networkTopology": TOPOLOGY,
        "unknown": ODD,
    },
)
METADATA = st.fixed_dictionaries({}, optional={"name": st.sampled_from(["job", "my.job"]) | ODD, "generateName": ODD})
JOB = st.fixed_dictionaries(
    {"apiVersion": st.just("batch.volcano.sh/v1alpha1"), "kind": st.just("Job")},
    optional={"metadata": METADATA | ODD, "spec": SPEC | ODD, "status": ODD},
)
