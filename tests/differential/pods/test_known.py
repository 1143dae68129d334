"""A rule that we repeat must not count as a rule that is not repeated."""

import pytest

from tests.differential.pods.answer import Answer, PodFault
from tests.differential.pods.case import Case
from tests.differential.pods.known import explanation

CASE = Case("containers", "a change", {}, "tricky")


def missed(path: str, message: str) -> str | None:
    """Return the name of the known difference if the server rejects a Pod that we accept."""
    known = explanation(CASE, Answer((PodFault(path, message, "validation"),)), Answer())
    return known.name if known else None


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes", "Required value: at least 1 is required"),
        ("spec.containers[0].resources.claims[0].name", 'Not found: "gpu"'),
        ("metadata.annotations", 'Invalid value: "A_": name part must consist of'),
        ("spec.resources.limits[cpu]", 'Invalid value: "-1": must be greater than or equal to 0'),
        ("spec.securityContext.seccompProfile.localhostProfile", "Required value: must be set"),
        ("spec.securityContext.sysctls[0].name", 'Invalid value: "net.a": may not be specified when hostNetwork'),
        ("spec.containers[0].volumeDevices[0].name", "Invalid value: must not already exist in volumeMounts"),
        ("spec.containers[0].restartPolicy", "Required value: must specify restartPolicy when restart rules are used"),
        ("spec.volumes[0].projected.sources[1].configMap", 'Invalid value: "a": conflicting duplicate paths'),
        ("spec.volumes[0].azureDisk", "Forbidden: may not specify more than 1 volume type"),
        ("spec.tolerations[0].effect", 'Invalid value: "a": effect must match'),
    ],
)
def test_a_miss_of_a_repeated_rule_is_a_fault(path: str, message: str) -> None:
    assert missed(path, message) is None


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("spec.volumes[0].azureDisk.kind", 'Unsupported value: "a"'),
        ("spec.securityContext.windowsOptions.runAsUserName", "Invalid value"),
        ("spec.resources.requests[cpu]", "must be greater than or equal to aggregate container requests of 2"),
    ],
)
def test_a_miss_of_a_rule_that_is_not_repeated_is_known(path: str, message: str) -> None:
    assert missed(path, message) == "a rule that is not repeated"
