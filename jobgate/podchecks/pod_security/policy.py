"""The Pod Security policy of a namespace, from its labels, and whether a violation certainly rejects a pod.

https://kubernetes.io/docs/concepts/security/pod-security-admission/
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from msgspec import Struct

from jobgate.podchecks.pod_security.checks import ALWAYS, Level, PodSecurityViolation

#: Labels of a namespace: `enforce` rejects pods, `warn` warns their creators. `audit` only affects the audit log.
ENFORCE: Final = "pod-security.kubernetes.io/enforce"
WARN: Final = "pod-security.kubernetes.io/warn"
_VERSION: Final = "-version"

#: The oldest Kubernetes that jobgate supports. If a namespace names no version, or a newer version than the API
#: server's, the API server uses its own.
OLDEST: Final = 30
#: The oldest version of the levels that is known here. In older versions baseline was the same, and restricted
#: required less: violations of restricted are warnings then.
FIRST: Final = 25

_LEVELS: Final = {level.word: level for level in Level}
_MINOR = re.compile(r"v1\.(0|[1-9][0-9]{0,3})\Z")


class Certainty(Enum):
    """Whether a violation rejects a pod."""

    NO = "no"
    BY_VERSION = "by version"
    YES = "yes"


class Standard(Struct, frozen=True):
    """A level, as one version of Kubernetes defines it.

    Attributes:
        level: how far pods are restricted.
        minor: the minor version; None for the API server's own.
    """

    level: Level = Level.PRIVILEGED
    minor: int | None = None

    def violated_by(self, violation: PodSecurityViolation) -> Certainty:
        """Return whether a violation violates this standard: on every API server, only on some, or on none."""
        newest = ALWAYS - 1 if self.minor is None else max(self.minor, FIRST)
        oldest = min(OLDEST, newest)
        if violation.level > self.level or violation.since > newest or violation.until <= oldest:
            return Certainty.NO
        known = self.minor is None or self.minor >= FIRST or violation.level is Level.BASELINE
        everywhere = known and violation.since <= oldest and violation.until > newest
        return Certainty.YES if everywhere else Certainty.BY_VERSION

    def __str__(self) -> str:
        return self.level.word if self.minor is None else f"{self.level.word} of v1.{self.minor}"


class Policy(Struct, frozen=True):
    """The standards that a namespace's labels set.

    Attributes:
        enforce: violations reject pods.
        warn: violations cause warnings.
    """

    enforce: Standard = Standard()
    warn: Standard = Standard()


NOTHING: Final = Policy()


def policy_of(labels: Mapping[str, Any]) -> Policy:
    """Return the policy that labels set, read as the API server reads them.

    It treats an unknown `enforce` level as `restricted`, an unknown `warn` level as none, and an unknown version as its
    own.
    """
    if ENFORCE not in labels and WARN not in labels:
        return NOTHING
    return Policy(_standard(labels, ENFORCE, Level.RESTRICTED), _standard(labels, WARN, Level.PRIVILEGED))


def standard(text: str) -> Standard:
    """Return the standard of `LEVEL` or `LEVEL:VERSION`, as in `restricted:v1.34`.

    Raises:
        ValueError: the text is neither.
    """
    level, _, version = text.partition(":")
    if level not in _LEVELS:
        raise ValueError(f"{level!r} must be one of {', '.join(_LEVELS)}")
    minor = _MINOR.match(version)
    if version not in {"", "latest"} and minor is None:
        raise ValueError(f"{version!r} must be latest or a version such as v1.34")
    if minor and int(minor[1]) < FIRST:
        raise ValueError(f"{version!r} must be v1.{FIRST} or later: older definitions of the levels are not known")
    return Standard(_LEVELS[level], int(minor[1]) if minor else None)


def labels_of(enforced: Standard) -> dict[str, str]:
    """Return the labels of a namespace that enforces a standard."""
    version = "latest" if enforced.minor is None else f"v1.{enforced.minor}"
    return {ENFORCE: enforced.level.word, ENFORCE + _VERSION: version}


def _standard(labels: Mapping[str, Any], label: str, unknown: Level) -> Standard:
    if label not in labels:
        return Standard()
    minor = _MINOR.match(str(labels.get(label + _VERSION, "")))
    return Standard(_LEVELS.get(str(labels[label]), unknown), int(minor[1]) if minor else None)
