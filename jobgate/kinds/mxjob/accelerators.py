"""What an installation says of its accelerators: what a container that asks for one needs of the host.

It is what the operator's own configuration file has under `accelerators`. Fields are matched in any case, as there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from crdgen import Model
from jobgate.kinds.mxjob.models import RESOURCE
from jobgate.names import dns_label, environment_name, qualified_name
from webhook import Context

#: What an installation's settings call the kind.
SETTINGS = f"{RESOURCE.names.plural}.{RESOURCE.group}"


class _AnyCase(Model):
    """A model whose fields are matched in any case, and which has no others: a misspelt field is an error."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _match_fields(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        known = {(field.alias or name).lower(): field.alias or name for name, field in cls.model_fields.items()}
        matched: dict[Any, Any] = {}
        for key, part in value.items():
            name = known.get(str(key).lower(), key)
            if name in matched:
                raise ValueError(f"{name} is set twice, in different spellings: remove one")
            matched[name] = part
        return {name: part for name, part in matched.items() if part is not None}


def _named(text: str) -> str:
    if fault := dns_label(text):
        raise ValueError(fault)
    return text


def _variable(text: str) -> str:
    if fault := environment_name(text):
        raise ValueError(fault)
    return text


def _path(text: str) -> str:
    if not text.startswith("/") or ".." in text.split("/") or ":" in text:
        raise ValueError("must be an absolute path without '..' and ':'")
    return text


def _resource(text: str) -> str:
    if fault := qualified_name(text):
        raise ValueError(fault)
    return text


_AbsolutePath = Annotated[str, AfterValidator(_path)]


class HostVolume(_AnyCase):
    """A folder of the host, and where a container has it."""

    name: Annotated[str, AfterValidator(_named)]
    host_path: _AbsolutePath
    mount_path: _AbsolutePath


class EnvVar(_AnyCase):
    """An environment variable."""

    name: Annotated[str, AfterValidator(_variable)]
    value: str = ""


class Accelerator(_AnyCase):
    """What a container that asks for one resource is given."""

    volumes: list[HostVolume] = Field(default_factory=list)
    env_vars: list[EnvVar] = Field(default_factory=list)


class MxJobSettings(_AnyCase):
    """What an installation says of MxJobs.

    A container may ask for several accelerators, so what they give must go together: that is checked here, once, and
    not with every job.
    """

    accelerators: dict[Annotated[str, AfterValidator(_resource)], Accelerator] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        volumes: dict[str, tuple[str, HostVolume]] = {}
        places: dict[str, tuple[str, HostVolume]] = {}
        variables: dict[str, tuple[str, EnvVar]] = {}
        for resource, accelerator in self.accelerators.items():
            for volume in accelerator.volumes:
                first, other = volumes.setdefault(volume.name, (resource, volume))
                if other != volume:
                    raise ValueError(_two(f"the volume {volume.name}", first, resource, "rename one of them"))
                first, other = places.setdefault(volume.mount_path, (resource, volume))
                if other != volume:
                    raise ValueError(
                        _two(f"the mountPath {volume.mount_path}", first, resource, "change one of the paths")
                    )
            for variable in accelerator.env_vars:
                first, same = variables.setdefault(variable.name, (resource, variable))
                if same != variable:
                    raise ValueError(_two(f"the variable {variable.name}", first, resource, "use one value"))
        return self


def _two(what: str, first: str, second: str, remedy: str) -> str:
    where = f"twice by {first}" if first == second else f"by {first} and by {second}"
    return f"{what} is defined {where} with different values: {remedy}"


def accelerators_of(context: Context) -> Mapping[str, Accelerator]:
    """Return the accelerators of this installation, by the name of the resource that a container asks for."""
    settings = context.settings.kinds.get(SETTINGS)
    return settings.accelerators if isinstance(settings, MxJobSettings) else {}
