"""MxJobs for the tests of all kinds."""

from jobgate.kinds.mxjob.accelerators import SETTINGS, MxJobSettings
from tests.kinds.mxjob.jobs import local, template
from tests.kinds.mxjob.test_accelerators import ACCELERATORS, MOUNT, VOLUME, with_gpu
from tests.kinds.samples import Sample

SAMPLE = Sample(
    harmless={"policies": [{"event": "PodFailed", "action": "RestartJob"}]},
    replaced=frozenset(
        {
            "task_names_are_unique",
            "task_names_are_labels",
            "derived_names_are_legal",
            "a_gang_has_priorities_throughout",
        }
    ),
    # They ask for devices that the settings give volumes and variables.
    jobs=(
        local(template=template(with_gpu(env=[{"name": "LR"}]), volumes=[VOLUME])),
        local(template=template(with_gpu("requests", "example.com/npu", volumeMounts=[MOUNT]))),
    ),
    settings={SETTINGS: MxJobSettings.model_validate({"accelerators": ACCELERATORS})},
    operator_can=frozenset({"mxjobs/env"}),
)
