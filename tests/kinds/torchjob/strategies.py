"""TorchJobs, sound and odd."""

import copy
from typing import Any

from hypothesis import strategies as st

from tests.kinds.torchjob.jobs import elastic, output, template

#: Values that are right for one field or another, and those that nearly are; each a copy, as JSON shares nothing.
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, 0, 1, 2, 3.0, 1.5, -1, 2**31 - 1, 2**31, 2**63, "", "3", "Master", "Running", "a", "A_b", [],
     {}, [{}], [None], {"a": "b"}, {"Master": None}]
).map(copy.deepcopy)  # fmt: skip
KEY = st.sampled_from(["Master", "master", "Worker", "WORKER", "AIMaster", "Other", "a.b", ""])
CONTAINER = st.fixed_dictionaries(
    {"name": st.sampled_from(["torch", "side"]), "image": st.just("pytorch")},
    optional={
        "ports": st.lists(st.just({"name": "torchjob-port", "containerPort": 1}) | ODD, max_size=2) | ODD,
        "terminationMessagePolicy": ODD,
        "env": st.just([{"name": "RANK", "value": "1"}]) | ODD,
        "resources": st.just({"requests": {"nvidia.com/gpu": 1}}) | ODD,
    },
)
TASK = st.fixed_dictionaries(
    {},
    optional={
        "numTasks": st.integers(0, 4) | ODD,
        "restartPolicy": st.sampled_from(["ExitCode", "Always"]) | ODD,
        "dependsOn": st.lists(st.fixed_dictionaries({"dependsOn": KEY}), max_size=2) | ODD,
        "spotTaskSpec": st.fixed_dictionaries({}, optional={"numSpotTasks": ODD, "labels": ODD}) | ODD,
        "template": st.lists(CONTAINER, max_size=2).map(lambda containers: template(*containers)) | ODD,
    },
)
WORDS = ("clenPodPolicy", "cleanPodPolicy", "TTLSecondsAfterFinished", "ttlSecondsAfterFinished", "backoffLimit")
SPEC = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(WORDS, ODD),
        "schedulingPolicy": st.fixed_dictionaries({}, optional={"queue": ODD, "minAvailable": ODD}) | ODD,
        "minMembers": st.dictionaries(KEY, ODD, max_size=2) | ODD,
        "modelVersion": st.just(output()["modelVersion"]) | st.fixed_dictionaries({"spec": ODD, "status": ODD}) | ODD,
        "enableTorchElastic": ODD,
        "torchElasticPolicy": st.just(elastic()["torchElasticPolicy"])
        | st.fixed_dictionaries({"numMinReplicas": ODD, "rendezvousBackend": ODD})
        | ODD,
        "torchTaskSpecs": st.dictionaries(KEY, TASK | ODD, max_size=3) | ODD,
        "unknown": ODD,
    },
)
ANNOTATIONS = st.dictionaries(
    st.sampled_from(["distributed.io/network-mode", "distributed.io/enable-elastic-training"]),
    st.sampled_from(["true", "host"]) | ODD,
)
METADATA = st.fixed_dictionaries({}, optional={"name": st.just("job") | ODD, "annotations": ANNOTATIONS | ODD}) | ODD
JOB = st.fixed_dictionaries(
    {"apiVersion": st.just("train.distributed.io/v1alpha1"), "kind": st.just("TorchJob")},
    optional={"metadata": METADATA, "spec": SPEC | ODD, "status": ODD},
)
