"""Jobs that ask for ssh, of which a test says only what matters to it."""

from collections.abc import Mapping, Sequence
from typing import Any

from jobgate.plugins import Crew, CrewContainer, Declared, Member, Part, Pod, parse, wire
from jobgate.plugins.ssh import Ssh, SshArguments
from webhook import Cause, Draft, Notice, Path

MAIN = CrewContainer("main")
PATH = (Path("spec") / "plugins").key("ssh")


def arguments(*flags: str) -> SshArguments:
    parsed, causes = parse(SshArguments, "ssh", list(flags), PATH)
    assert parsed is not None, causes
    return parsed


def part(**words: Any) -> Part:
    usual: dict[str, Any] = {"name": "learner", "replicas": 2, "containers": (MAIN,)}
    return Part(**usual | words)


def crew(*parts: Part, flags: Sequence[str] = (), **words: Any) -> Crew:
    usual: dict[str, Any] = {
        "namespace": "ns",
        "name": "job",
        "pod": "job-{task}-{index}",
        "service": "di-job",
        "service_made": True,
        "plugins": {"ssh": arguments(*flags)},
    }
    return Crew(
        api_version="example.com/v1",
        kind="Kind",
        plural="kinds.example.com",
        parts=parts or (part(),),
        **usual | words,
    )


def findings_of(crew: Crew) -> list[Cause | Notice]:
    return list(Ssh().check(crew, crew.plugins["ssh"], PATH))


def secret(crew: Crew) -> Declared:
    (declared,) = Ssh().objects(crew, crew.plugins["ssh"])
    return declared


def stored(declared: Declared) -> dict[str, Any]:
    """Return the Secret as it is stored when it is made."""
    assert declared.generate is not None
    result = declared.generate()
    return {**declared.manifest, "data": {**declared.manifest["data"], **result["data"]}}


def wired(crew: Crew, pod: Mapping[str, Any] | None = None) -> Draft:
    draft = Draft(
        dict(pod or {"spec": {"containers": [{"name": container.name} for container in crew.parts[0].containers]}})
    )
    wire(Pod(draft, Member(crew, crew.parts[0], 0)))
    return draft
