"""Known, intended differences: their causes and reasons. Any other difference is a fault."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.differential.pods.answer import Answer
from tests.differential.pods.case import Case

#: Messages of our schema for a quantity that a custom resource cannot have.
_QUANTITY = ("must be a quantity", "must be an integer or a string", "must fit into 64 bits")
#: The message of our rule for amounts.
_NO_AMOUNT = ": must be a quantity: a number"
#: Volume sources of features that are off by default: the API server drops them without validation.
_OFF = (".clusterTrustBundle.", ".podCertificate.")
#: Rules of the API server that are not repeated: patterns of their messages, or of fields without any repeated rule.
_NOT_REPEATED = re.compile(
    # Windows.
    r"windowsOptions|(?:cannot|may not) be set for a windows pod|[hH]ostProcess containers|"
    # Annotations that Kubernetes reads; fields have replaced most of them.
    r"^metadata\.annotations[.\[](?:container\.(?:seccomp|apparmor)|seccomp|scheduler\.alpha|controller|kubernetes\.io/config)|"
    r"^metadata\.annotations: .*JSON input$|in annotation and field must match|static pods do not support|"
    # Fields that are new, or that training jobs do not use.
    r"`hostUsers` must be false to use `Unmasked`|volumeDevices: Forbidden: when `hostUsers`|exists in both matchLabelKeys and labelSelector|"
    r"\.(?:matchFields|restartPolicyRules)(?:\[|:)|\.fileKeyRef\.|\.dataSource(?:Ref)?[.:]|must match dataSourceRef|"
    r"may not be specified when dataSourceRef\.namespace|hostnameOverride: (?:Too long|Forbidden)|only divisor's values|"
    r"resizePolicy: .* is 'Never'$|resizePolicy\[[0-9]+\]: Duplicate|'RestartContainer' for non-sidecar|"
    r"claims\[[0-9]+\]\.request: Invalid|localhostProfile: Too long|only be specified when mountPropagation is None|"
    # Resources of the pod as a whole.
    r"aggregate container (?:requests|limits) of|^spec\.resources\.requests: .* must be less than or equal to \w+ limit|"
    r"^spec\.resources: Forbidden: HugePages|^spec\.resources\.claims|"
    # Contents of volume sources that are rare, or that Kubernetes has removed.
    r"^spec\.volumes\[[0-9]+\]\.(?:awsElasticBlockStore|azureDisk|azureFile|cephfs|cinder|fc|flexVolume|flocker|persistentDisk|"
    r"gitRepo|glusterfs|iscsi|photonPersistentDisk|portworxVolume|quobyte|rbd|scaleIO|storageos|vsphereVolume)\b"
    r"(?!: Forbidden)|<iscsi\.targetPortal> must be under"
)
#: The API server's message for a mount of a volume that it has rejected.
_OF_A_MOUNT = re.compile(r"(?:volumeMounts|volumeDevices)\[[0-9]+\]\.name: Not found")
_CLAIM_METADATA = ".ephemeral.volumeClaimTemplate.metadata."

Explains = Callable[[Case, Answer, Answer], bool]


@dataclass(frozen=True)
class KnownDifference:
    """A known, intended difference.

    Attributes:
        name: what such a template has.
        reason: why our verdict is not the API server's.
        explains: whether the difference alone explains both answers to a case.
    """

    name: str
    reason: str
    explains: Explains


def _null_item(_: Case, server: Answer, ours: Answer) -> bool:
    return server.accepted and _all_schema(ours, lambda path, said: said.endswith(", not null") and path.endswith("]"))


def _quantity(_: Case, server: Answer, ours: Answer) -> bool:
    # For a text, the rule for amounts repeats the fault of the schema.
    return (
        server.accepted
        and "schema" in ours.stages
        and all(finding.message.startswith(_QUANTITY) or _NO_AMOUNT in finding.message for finding in ours.findings)
    )


def _feature_off(_: Case, server: Answer, ours: Answer) -> bool:
    return server.accepted and _all_schema(
        ours, lambda path, said: said == "must be set" and any(source in path for source in _OFF)
    )


def _null_quantity(case: Case, server: Answer, ours: Answer) -> bool:
    """Whether every finding is about resources, and the case has null as an amount."""
    findings = (*server.findings, *ours.findings)
    return all("resources" in finding.path for finding in findings) and _has_null_amount(case.pod)


def _pruned(_: Case, server: Answer, ours: Answer) -> bool:
    return ours.accepted and all(
        _CLAIM_METADATA in finding.path or "volumeClaimTemplate" in finding.message or "parsing time" in finding.message
        for finding in server.findings
    )


def _not_repeated(_: Case, server: Answer, ours: Answer) -> bool:
    findings = [str(finding) for finding in server.findings]
    own = [finding for finding in findings if not _OF_A_MOUNT.search(finding)]
    return ours.accepted and bool(own or findings) and all(map(_NOT_REPEATED.search, own or findings))


def _token(_: Case, server: Answer, ours: Answer) -> bool:
    return ours.accepted and all("when serviceAccountName is not set" in finding.message for finding in server.findings)


KNOWN: tuple[KnownDifference, ...] = (
    KnownDifference(
        "null as an item of a list",
        "A Pod takes it as an empty item. In a custom resource the API server itself rejects it, by the schema.",
        _null_item,
    ),
    KnownDifference(
        "a quantity that only a Pod takes",
        "A number with a fraction or beyond 64 bits is no `int-or-string`, so no custom resource can hold it (written in "
        'quotes, `"0.5"`, it can); blanks around a quantity and a missing mantissa (`e3`) are rejected by our pattern, '
        "which must keep out the spellings that stop operators.",
        _quantity,
    ),
    KnownDifference(
        "an unfinished source of a feature that is off",
        "Trust bundles and pod certificates are dropped unread while their features are off; a server that has them on "
        "refuses what our schema refuses.",
        _feature_off,
    ),
    KnownDifference(
        "null as a quantity",
        "A Pod takes it as 0. From a custom resource the API server drops it before it is stored, so the operator's Pod "
        "does not have it, and that Pod is the one that we judge.",
        _null_quantity,
    ),
    KnownDifference(
        "metadata of a claim that the schema does not have",
        "It is pruned from the job before it is stored, so the operator's Pod does not have it.",
        _pruned,
    ),
    KnownDifference(
        "a token for a pod that names no service account",
        "The API server of this measurement runs without the ServiceAccount plugin. With it, as everywhere else, such a "
        "Pod gets the account `default` and is accepted.",
        _token,
    ),
    KnownDifference(
        "a rule that is not repeated",
        "Windows pods; annotations that Kubernetes reads; contradicting finalizers; `procMount: Unmasked` and block devices "
        "with the wrong `hostUsers`; `matchFields` of node affinity; `matchLabelKeys` that are in the selector too; details of "
        "`hostnameOverride`, `restartPolicyRules`, `resizePolicy`, `fileKeyRef`, `recursiveReadOnly`, divisors, requests of "
        "resource claims, the length of AppArmor profiles and the `dataSource` of ephemeral volumes; for the resources of the "
        "pod as a whole: claims, huge pages alone and sums over containers; and the contents of volume sources that are rare or "
        "removed. Training jobs hardly ever have them. The API server rejects the operator's Pod.",
        _not_repeated,
    ),
)


def explanation(case: Case, server: Answer, ours: Answer) -> KnownDifference | None:
    """Return the known difference that explains a disagreement, or None."""
    return next((known for known in KNOWN if known.explains(case, server, ours)), None)


def _all_schema(answer: Answer, fits: Callable[[str, str], bool]) -> bool:
    return answer.stages == {"schema"} and all(fits(finding.path, finding.message) for finding in answer.findings)


def _has_null_amount(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_null_amount, value))
    if not isinstance(value, dict):
        return False
    amounts = [value.get(name) for name in ("requests", "limits")]
    if any(isinstance(amount, dict) and None in amount.values() for amount in amounts):
        return True
    return any(map(_has_null_amount, value.values()))
