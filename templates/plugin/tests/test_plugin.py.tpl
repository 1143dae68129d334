"""Jobs that request the plugin, and their pods."""

from typing import Any

import pytest
from jobgate.kinds import built_in
from jobgate.testing import allowed, changed, denied, pods, verdict

#: Any kind whose jobs have plugins.
(DIJOB,) = (kind for kind in built_in() if kind.kind == "DIJob")
JOB = """
apiVersion: diengine.opendilab.org/v2alpha1
kind: DIJob
metadata: {name: train}
spec:
  plugins: {$name: []}
  tasks:
  - type: learner
    template:
      spec:
        containers: [{name: main, image: "train:1"}]
"""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], allowed()),
        (["--directory=/data"], allowed()),
        (["--directory=data"], denied("spec.plugins[$name][0]: its value must be an absolute path")),
        (["--folder=/data"], denied("spec.plugins[$name][0]: --folder")),
    ],
)
def test_arguments(arguments: list[str], expected: object) -> None:
    """Arguments are checked when the job is applied."""
    assert verdict(DIJOB, changed(JOB, {"spec": {"plugins": {"$name": arguments}}})) == expected


def test_a_volume_of_the_same_name_is_denied() -> None:
    """The plugin could not add its own."""
    pod = {"volumes": [{"name": "$name", "emptyDir": {}}]}
    job = changed(JOB, {"spec": {"tasks": {0: {"template": {"spec": pod}}}}})
    assert verdict(DIJOB, job) == denied("spec.plugins[$name]: task learner has a volume $name already")


def test_pods_are_wired() -> None:
    """Each container has the folder and the variable."""
    pod: dict[str, Any] = pods(DIJOB, JOB)["learner"]
    (container,) = pod["spec"]["containers"]
    assert {"name": "$name", "mountPath": "/$name"} in container["volumeMounts"]
    assert {"name": "${variable}_DIRECTORY", "value": "/$name"} in container["env"]
