"""A secret may stand anywhere in a job; no answer quotes it but where only a name, a choice or an amount can stand."""

from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from jobgate.jobs.elastic import ELASTIC
from jobgate.jobs.kind import JobKind
from jobgate.jobs.policies import COMMAND
from jobgate.jobs.schema import is_private, shape_of
from jobgate.podchecks.pod_security.policy import ENFORCE, WARN
from tests.kinds.dijob.jobs import job, task
from tests.kinds.places import KINDS, Steps, ask, at, places, with_value
from tests.kinds.samples import sample_of
from webhook import Phase, Response
from webhook.path import join
from webhook.view import opaque

SECRET = "Hunter2_hunter2"

#: The fields of pod templates and volumes whose value an answer may quote: names, choices, amounts, places. `x.*` is any
#: entry of the map x. What a kind's own model declares need not be listed.
_QUOTED = """
    accessModes action add apiGroup apiVersion audience cachingMode claimName conditionType containerName datasetName
    devicePath directory diskName diskURI dnsPolicy driver drop effect endpoints events fieldPath fsGroupChangePolicy
    fsType gateway gmsaCredentialSpec gmsaCredentialSpecName group host hostIP hostname hostnameOverride hostnames
    image imagePullPolicy initiatorName ip iqn iscsiInterface key keyring kind labels.* level localhostProfile
    matchLabelKeys matchLabels.* medium mismatchLabelKeys monitors mountPath mountPropagation name nameservers
    namespaces nodeAffinityPolicy nodeName nodeSelector.* nodeTaintsPolicy operator path pdID pdName pool portals
    preemptionPolicy prefix priorityClassName procMount protectionDomain protocol pullPolicy recursiveReadOnly
    reference registry request resource resourceClaimName resourceClaimTemplateName resourceName restartPolicy
    revision role runAsUserName runtimeClassName schedulerName scheme seLinuxChangePolicy searches secretFile
    secretName server service serviceAccountName shareName signerName stopSignal storageClassName storageMode
    storagePolicyID storagePolicyName storagePool subPath subPathExpr subdomain supplementalGroupsPolicy system
    targetPortal targetWWNs targets tenant terminationMessagePath terminationMessagePolicy topologyKey type user
    values volume volumeID volumeMode volumeName volumeNamespace volumePath whenUnsatisfiable workingDir wwids
"""
QUOTED = frozenset(_QUOTED.split())
#: Annotations with words of ours, which denials quote.
WORDS = frozenset({COMMAND, ELASTIC})
#: Stored jobs that run: what of them may not change is rejected, with what it is and would be.
RUNS = {"phase": "Running", "state": {"phase": "Running"}, "conditions": [{"type": "Running", "status": "True"}]}


class Restricted:
    """A cluster whose namespaces are held to the restricted level."""

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return a namespace."""
        del resource, name, namespace
        return {"metadata": {"labels": {ENFORCE: "restricted", WARN: "restricted"}}}


def answers(document: dict[str, Any], old: dict[str, Any]) -> list[Response]:
    """Return all that is answered to a job: new, and written over one that runs."""
    return [
        ask(Phase.MUTATE, document),
        ask(Phase.VALIDATE, document, objects=Restricted()),
        ask(Phase.VALIDATE, document, {**old, "status": RUNS}, Restricted()),
    ]


def quotes(response: Response) -> bool:
    """Tell whether an answer has the secret in what it says: all findings, and not only those that it has room for."""
    texts = [*map(str, response.causes), *map(str, response.notices), response.later]
    return SECRET in "".join(texts) or SECRET.encode() in orjson.dumps(
        {**response.to_review()["response"], "patch": ""}
    )


def name_of(document: dict[str, Any], steps: Steps) -> str | None:
    """Return what the table calls a text; None of what is none by the schema, so that no secret can be stored there."""
    shape = shape_of(KINDS.get(document["apiVersion"], document["kind"]))  # type: ignore[arg-type]
    for step in steps:
        around, shape = shape, shape.below(step)
    if shape.node.get("type") != "string" and steps[0] == "spec" and shape.node:
        return None
    fields = [step for step in steps if isinstance(step, str)]
    return f"{fields[-2]}.*" if around.is_map or fields[-2] in {"labels", "annotations"} else fields[-1]


def is_declared(kind: JobKind, steps: Steps) -> bool:
    """Tell whether a kind's own model declares a text: it is a name, a choice, an amount or a place."""
    shape = shape_of(kind)
    for step in steps:
        shape = shape.below(step)
    return shape.node.get("type") == "string" and not opaque(kind.spec, join(steps))


def test_no_answer_quotes_a_text_that_may_be_a_secret() -> None:
    tried = set()
    for document, steps in places():
        name = name_of(document, steps)
        kind = KINDS.get(document["apiVersion"], document["kind"])
        assert isinstance(kind, JobKind)
        if name is None or name in QUOTED or steps[-1] in WORDS or not isinstance(at(document, steps), str):
            continue
        if steps[-1] in sample_of(kind).quoted or (is_declared(kind, steps) and not is_private(steps, "")):
            continue
        tried.add(name)
        leaky = with_value(document, steps, SECRET)
        assert not any(map(quotes, answers(leaky, document))), steps
    assert {"args", "command", "value", "annotations.*", "repository", "svc", "ssh"} <= tried


def test_what_is_written_where_an_object_or_a_list_belongs_is_never_quoted() -> None:
    tried = 0
    for document, steps in places():
        if not isinstance(at(document, steps), dict | list) or steps == ("metadata",):
            continue
        tried += 1
        assert not quotes(ask(Phase.VALIDATE, with_value(document, steps, SECRET))), steps
    assert tried > 200


@pytest.mark.parametrize(
    "plugins",
    [
        {"ssh": SECRET},
        {"ssh": [SECRET]},
        {"ssh": [f"--ssh-private-key={SECRET}"]},
        {"ssh": ["--ssh-private-key", SECRET]},
        {"ssh": [f"--ssh-port={SECRET}"]},
        {"ssh": [f"--unknown={SECRET}"]},
        {"ssh": [[SECRET]]},
        {"ssh": {"ssh-private-key": SECRET}},
        {"ssh": {"ssh-port": SECRET}},
        {"ssh": {"ssh-port": [SECRET]}},
        {"ssh": {"unknown": SECRET}},
        {"env": SECRET},
        {"unknown": SECRET},
        SECRET,
        [SECRET],
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["DIJob", "Job"])
def test_no_argument_of_a_plugin_is_quoted(plugins: Any, kind: str) -> None:
    document = job(task("learner"), plugins=plugins)
    if kind == "Job":
        document = {**document, "apiVersion": "batch.volcano.sh/v1alpha1", "kind": kind}
    stored = {**document, "spec": {**document["spec"], "plugins": {"ssh": ["--ssh-key-secret=mine"]}}}
    result = answers(document, stored)
    assert not any(map(quotes, result))
