"""Which fields of a stored job a client's full update has erased."""

import json
from typing import Any

import pytest

from jobgate.jobs.erased import APPLIED, Erased, erased
from jobgate.kinds.dijob import DIJOB

KUBECTL = {"manager": "kubectl-client-side-apply", "operation": "Update"}
OPERATOR = {"manager": "di-orchestrator", "operation": "Update"}
STATUS = {"manager": "di-orchestrator", "operation": "Update", "subresource": "status"}
APPLY = {"manager": "argocd", "operation": "Apply"}


@pytest.mark.parametrize(
    "annotation, spec, managers, expected",
    [
        ({"plugins": {}}, {}, [KUBECTL, OPERATOR], Erased("di-orchestrator", ("plugins",))),
        ({"plugins": {}, "minReplicas": 1}, {"minReplicas": 1}, [OPERATOR], Erased("di-orchestrator", ("plugins",))),
        ({"plugins": {}}, {"plugins": {}}, [KUBECTL, OPERATOR], None),
        # No field of the kind's, or none that kubectl sends: the API server never stored it.
        ({"unknown": 1, "plugins": None}, {}, [KUBECTL, OPERATOR], None),
        # A person has removed it; the operator has written nothing but the status.
        ({"plugins": {}}, {}, [KUBECTL, STATUS, APPLY], None),
        ({"plugins": {}}, {}, None, None),
        ([], {}, [OPERATOR], None),
        ("{", {}, [OPERATOR], None),
        (3, {}, [OPERATOR], None),
    ],
)
def test_what_kubectl_applied_and_the_job_has_not_was_erased(
    annotation: Any, spec: Any, managers: Any, expected: Erased | None
) -> None:
    written = json.dumps({"spec": annotation}) if isinstance(annotation, dict | list) else annotation
    metadata = {"annotations": {APPLIED: written}, "managedFields": managers}
    assert erased(DIJOB, {"metadata": metadata, "spec": spec}) == expected
