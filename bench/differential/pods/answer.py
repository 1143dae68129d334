"""An answer to the question whether a Pod may be: the API server's, or ours."""

from __future__ import annotations

from dataclasses import dataclass

#: Who refuses. `decode`: the Pod cannot even be read. `validation`: a rule on Pods. `admission`: a plugin, by what the
#: Pod says. `cluster`: a plugin, by what the cluster lacks, which no template can tell. `schema`: the CRD's schema.
#: `rules`: our rules.
STAGES = ("decode", "validation", "admission", "cluster", "schema", "rules")


@dataclass(frozen=True)
class PodFault:
    """One thing that is said against a Pod, and where."""

    path: str
    message: str
    stage: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


@dataclass(frozen=True)
class Answer:
    """What is said against a Pod; nothing means that it is accepted."""

    findings: tuple[PodFault, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the Pod may be."""
        return not self.findings

    @property
    def paths(self) -> frozenset[str]:
        """The fields that something is said about."""
        return frozenset(finding.path for finding in self.findings)

    @property
    def stages(self) -> frozenset[str]:
        """Who refuses."""
        return frozenset(finding.stage for finding in self.findings)

    def __str__(self) -> str:
        return "accepted" if self.accepted else "; ".join(map(str, self.findings))
