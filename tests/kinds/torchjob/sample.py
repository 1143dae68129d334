"""TorchJobs for the tests of all kinds."""

from jobgate.kinds.torchjob.operator import NETWORK_MODE
from tests.kinds.samples import Sample

SAMPLE = Sample(
    harmless={"backoffLimit": 7},
    replaced=frozenset(
        {
            "task_names_are_unique",
            "task_names_are_labels",
            "minimum_is_at_most_the_pods",
            "task_minima_are_at_most_their_replicas",
            "minima_agree",
            "replicas_are_within_bounds",
            "a_gang_has_priorities_throughout",
        }
    ),
    quoted=frozenset({NETWORK_MODE}),
)
