"""What pods get to reach the server of their job."""

from dataclasses import replace
from typing import Any

from jobgate.runner.jobserver.access import AUTHORITY, FOLDER, ServerAccess
from jobgate.runner.rendering import batch_job, template_digest
from tests.runner.world import dijob, subject, task, torchjob

ACCESS = ServerAccess("https://server.example", "a certificate\n")


def template(job: dict[str, Any], access: ServerAccess | None = ACCESS, name: str = "work") -> dict[str, Any]:
    """The pod template of a task."""
    found: dict[str, Any] = batch_job(replace(subject(job), server=access), name)["spec"]["template"]
    return found


def variables(container: dict[str, Any]) -> dict[str, str]:
    return {variable["name"]: variable.get("value", "") for variable in container.get("env", ())}


def test_all_containers_find_the_server_a_token_and_the_ca() -> None:
    job = dijob(task(1))
    spec = job["spec"]["tasks"][0]["template"]["spec"]
    spec["initContainers"] = [{"name": "first", "image": "x", "volumeMounts": [{"name": "a", "mountPath": "/a"}]}]
    spec["volumes"] = [{"name": "a", "emptyDir": {}}]
    found = template(job)
    for container in (*found["spec"]["initContainers"], *found["spec"]["containers"]):
        assert variables(container) == {
            "DI_SERVER_URL": "https://server.example",
            "DI_SERVER_TOKEN_FILE": f"{FOLDER}/token",
            "DI_SERVER_CA_FILE": f"{FOLDER}/ca.crt",
        }
        assert container["volumeMounts"][-1] == {"name": "jobgate-job-server", "mountPath": FOLDER, "readOnly": True}
    assert found["spec"]["initContainers"][0]["volumeMounts"][0] == {"name": "a", "mountPath": "/a"}
    assert found["metadata"]["annotations"][AUTHORITY] == "a certificate\n"
    kept, added = found["spec"]["volumes"]
    assert kept == {"name": "a", "emptyDir": {}}
    token, authority = added["projected"]["sources"]
    assert token["serviceAccountToken"]["audience"] == "jobgate-job-server"
    assert authority["downwardAPI"]["items"][0]["fieldRef"]["fieldPath"] == f"metadata.annotations['{AUTHORITY}']"


def test_a_variable_of_the_template_is_kept() -> None:
    job = dijob(task(1))
    job["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["env"] = [{"name": "DI_SERVER_URL", "value": "mine"}]
    env = template(job)["spec"]["containers"][0]["env"]
    assert [each["value"] for each in env if each["name"] == "DI_SERVER_URL"] == ["mine"]


def test_without_a_ca_there_is_no_file_of_it() -> None:
    found = template(dijob(task(1)), ServerAccess("https://server.example", ""))
    assert "DI_SERVER_CA_FILE" not in variables(found["spec"]["containers"][0])
    assert AUTHORITY not in found["metadata"].get("annotations", {})
    assert len(found["spec"]["volumes"][0]["projected"]["sources"]) == 1


def test_nothing_is_added_without_a_server_or_for_other_kinds() -> None:
    assert "DI_SERVER" not in str(template(dijob(task(1)), None))
    assert "DI_SERVER" not in str(template(torchjob(), name="master"))


def test_another_ca_or_server_is_no_change_of_the_job() -> None:
    job = subject(dijob(task(1)))
    others = (None, ServerAccess("https://server.example", "another\n"), ServerAccess("https://other.example", ""))
    digests = {template_digest(replace(job, server=access), "work") for access in (ACCESS, *others)}
    assert len(digests) == 1
