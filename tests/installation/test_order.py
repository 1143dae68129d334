"""The order of manifests: webhooks come after everything that their servers need."""

import pytest

from jobgate.installation import Installation, objects
from jobgate.kinds import installed

CONFIGURATIONS = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]


@pytest.mark.parametrize("rotation", ["watch", "cronjob", "cert-manager", "none"])
def test_the_configurations_come_after_all_that_makes_servers_answer(rotation: str) -> None:
    kinds = [each["kind"] for each in objects(installed(), Installation.model_validate({"rotation": rotation}))]
    assert kinds[-2:] == CONFIGURATIONS
    assert not set(kinds[:-2]) & set(CONFIGURATIONS)
    assert {"Namespace", "Service", "Deployment"} <= set(kinds[:-2])
