"""The rights of the controller: no more than it needs, and Secrets only in the namespaces of `--secrets-in`."""

from typing import Any

import pytest

from jobgate.installation import Installation, objects
from jobgate.kinds import installed

KINDS = installed()
ACCOUNT = {"kind": "ServiceAccount", "name": "jobgate-controller", "namespace": "elsewhere"}


def rules(*namespaces: str) -> dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    """The rights of the controller: verbs and resources by namespace; no namespace means all."""
    rendered = objects(KINDS, Installation(crds=False, namespace="elsewhere", secrets_in=namespaces))
    roles = {
        (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): each["rules"]
        for each in rendered
        if "rules" in each
    }
    result: dict[str, Any] = {}
    for one in rendered:
        if one["kind"].endswith("RoleBinding") and one["subjects"] == [ACCOUNT]:
            namespace = one["metadata"].get("namespace", "")
            for rule in roles[one["roleRef"]["kind"], namespace, one["roleRef"]["name"]]:
                entry = (tuple(rule["resources"]), tuple(rule["verbs"]))
                result.setdefault(namespace, []).append(entry)
    return result


def test_without_more_the_controller_gets_at_no_secret() -> None:
    assert not [entry for entries in rules().values() for entry in entries if "secrets" in entry[0]]


def test_if_it_may_make_secrets_it_can_neither_list_nor_change_them() -> None:
    result = rules("ada", "bob")
    assert result["ada"] == result["bob"] == [(("secrets",), ("get", "create"))]
    assert not [entry for entry in result[""] if "secrets" in entry[0]]


def test_nothing_is_granted_that_grants_more() -> None:
    verbs = {verb for entries in rules("ada").values() for _, all_verbs in entries for verb in all_verbs}
    assert verbs <= {"get", "list", "watch", "create", "patch", "delete"}


@pytest.mark.parametrize("external, count", [("", 1), ("localhost", 0)])
def test_the_controller_runs_where_the_server_does(external: str, count: int) -> None:
    rendered = objects(KINDS, Installation(crds=False, external_name=external))
    results = [
        each for each in rendered if (each["kind"], each["metadata"]["name"]) == ("Deployment", "jobgate-controller")
    ]
    assert len(results) == count
