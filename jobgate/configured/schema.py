"""The schema of a configured kind: that of its CRD, if it is known, and the types of the fields in its entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache, cached_property
from typing import Any, Final

from crdgen.evaluate import Evaluator
from crdgen.podtemplate import load
from crdgen.schema import PRESERVE
from crdgen.schema.look import named
from jobgate.configured.entry import Entry
from jobgate.configured.kind import ConfiguredSpec, Part, read_spec
from jobgate.configured.tasks import elements, located, parsed, template_of, values_at
from jobgate.jobs.metadata import type_word
from jobgate.jobs.schema import Shape, StructuralSchema, cause_of
from jobgate.podchecks import plain
from webhook import Cause, Invalid, NotSupported, Path, Required, TypeInvalid
from webhook.path import join
from webhook.values import mapping, value_at

#: The schema of a kind whose CRD is not known.
_OPEN: Final[Mapping[str, Any]] = {"type": "object", PRESERVE: True}
#: What a field must be, for messages; an integer if it is not here.
_TYPES: Final = {
    "template": "an object",
    "suspend": "a boolean",
    "depends_on": "a list of names, or of objects with a name",
    "plugins": 'names of plugins, as "env, svc", or a JSON object of them with their arguments',
    **dict.fromkeys(("name", "queue", "scheduler_name", "priority_class_name"), "a string"),
}


@cache
def _pod_template() -> Evaluator:
    return Evaluator(dict(load()["PodTemplateSpec"]))


class ConfiguredSchema(StructuralSchema):
    """The schema of a version of a configured kind."""

    def __init__(self, entry: Entry, crd: Mapping[str, Any] | None, version: str) -> None:
        """Take the entry, and the CRD, if it is known."""
        self._entry, self._version = entry, version
        self._crd = crd

    @cached_property
    def shape(self) -> Shape:
        """The root of the schema."""
        if self._crd is None:
            return Shape(_OPEN)
        versions = mapping(self._crd.get("spec")).get("versions") or ()
        version: Mapping[str, Any] = next((each for each in versions if each.get("name") == self._version), {})
        return Shape(mapping(version.get("schema")).get("openAPIV3Schema") or _OPEN)

    @property
    def unchecked_rules(self) -> tuple[str, ...]:
        """A sentence about each part of the schema that is not evaluated."""
        if self._crd is not None:
            return super().unchecked_rules
        known = "only pod templates and the fields that jobgate reads are checked"
        if "." not in self._entry.group:
            return (f"{known}, not the rest of a {self._entry.kind}",)
        return (f"the schema of {self._entry.name} is not known: {known}; pass its CRD with --crd",)

    def prune(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object without unknown fields; without a CRD, only those in pod templates are known."""
        pruned = super().prune(document)
        if self._crd is None:
            pruned = deepcopy(pruned)
            for element in elements(self._entry, pruned):
                built = template_of(self._entry, element)
                template = value_at(pruned, built.path.steps)
                if not built.is_assembled and isinstance(template, dict):
                    known = _pod_template().prune(template)
                    if built.path == element.path:  # the task itself, which has other fields, too
                        known |= {key: part for key, part in template.items() if key not in {"metadata", "spec"}}
                    template.clear()
                    template.update(known)
        return pruned

    def fits(self, document: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Return False: there is no fast check, and the API server has checked limits already."""
        return False

    crowded = fits

    def accepts(self, document: Mapping[str, Any]) -> bool:
        """Return True only if no CRD is known, and metadata and lists of tasks have no fault; tasks are not checked."""
        return self._crd is None and self._fits(document) and not any(self._source_causes(document))

    def check(self, document: Mapping[str, Any]) -> list[Cause]:
        """Return the faults of the object by its CRD, and of the fields that rules read."""
        causes = {cause.path.steps: cause for cause in super().check(document) if not self._is_set_later(cause)}
        if causes.keys() == {()}:  # says that rules were not evaluated, because of the causes that were left out
            causes = {}
        for cause in self._own_causes(document):
            causes.setdefault(cause.path.steps, cause)
        placeholder = self._entry.placeholder
        return [
            cause
            for cause in causes.values()
            if not (placeholder and isinstance(cause.value, str) and placeholder in cause.value)
        ]

    def _is_set_later(self, cause: Cause) -> bool:
        """Return whether the webhook of the operator sets a required field that is absent."""
        steps = tuple(step for step in cause.path.steps if isinstance(step, str))
        return isinstance(cause, Required) and any(steps == parsed(path)[1] for path in self._entry.operator.defaults)

    def _own_causes(self, document: Mapping[str, Any]) -> Iterator[Cause]:
        if self._crd is not None:
            versions = named(mapping(self._crd.get("spec")).get("versions"))
            served = [f"{self._entry.group}/{name}" for name, version in versions.items() if version.get("served")]
            if f"{self._entry.group}/{self._version}" not in served:
                yield Invalid("apiVersion", document.get("apiVersion"), f"the CRD serves {', '.join(served) or 'none'}")
        yield from self._source_causes(document)
        spec, whole = read_spec(self._entry, document)
        if not whole:
            for name in ConfiguredSpec.model_fields:
                if name not in spec.__dict__:
                    yield _type_cause(name, self._place(name), document)
        for part in spec.__dict__.get("tasks", ()):
            yield from _part_causes(part, document)
            if self._checks_templates and isinstance(part.built.value, dict) and not plain(part.built.value):
                yield from _template_causes(part)

    def _source_causes(self, document: Mapping[str, Any]) -> Iterator[Cause]:
        """Yield the causes of the lists and maps of tasks."""
        keys: dict[str | None, tuple[str, ...]] = {}
        for source in self._entry.tasks:
            keys[source.each] = (*keys.get(source.each, ()), *source.keys)
        for source in self._entry.tasks:
            steps = parsed(source.at or source.each or "")[1]
            value = next((value for _, value in values_at(document, steps)), None)
            if source.required and not value and not isinstance(value, bool):
                yield Required(join(steps), "the pods of the job are described here")
            elif source.at is None and value is not None and not isinstance(value, dict | list):
                yield TypeInvalid(join(steps), type_word(value), "must be a list or a map of tasks")
            known = keys.get(source.each, ())
            for key in value if isinstance(value, dict) and known else ():
                if key not in known:
                    yield NotSupported(join(steps).key(str(key)), key, known)
        for element in elements(self._entry, document):
            if not isinstance(element.value, dict):
                yield TypeInvalid(element.path, type_word(element.value), "must be an object")

    def _place(self, name: str) -> Path:
        path = getattr(self._entry.fields_, name, None)
        return Path("metadata.annotations") if path is None else join(parsed(path)[1])

    @cached_property
    def _checks_templates(self) -> bool:
        """Whether pod templates are checked here, because the CRD does not."""
        return self._crd is None or not _knows_containers(self.shape.node)


def _knows_containers(node: Any) -> bool:
    """Return whether a schema describes containers somewhere."""
    if isinstance(node, dict):
        return "containers" in mapping(node.get("properties")) or any(map(_knows_containers, node.values()))
    return False


def _part_causes(part: Part, document: Mapping[str, Any]) -> Iterator[Cause]:
    for name in type(part).model_fields:
        if name in part.__dict__:
            continue
        if name == "template" and part.built.value is None:
            yield Required(part.built.path, "the template of the task's pods")
        elif (place := part.place(name)) is not None:
            yield _type_cause(name, place, document)


def _type_cause(name: str, path: Path, document: Mapping[str, Any]) -> Cause:
    value = value_at(document, path.steps)
    shown = value if isinstance(value, str | bool | int | float) else type_word(value)
    cause = TypeInvalid(path, shown, f"must be {_TYPES.get(name, 'an integer')}")
    cause.value = value
    return cause


def _template_causes(part: Part) -> Iterator[Cause]:
    """Yield the violations of Kubernetes' schema in a pod template."""
    start, evaluator = part.built.path, _pod_template()
    shape = Shape(load()["PodTemplateSpec"])
    # Null is as good as absent: the API server drops it when it sets defaults.
    for violation in evaluator.validate(evaluator.default(part.built.value)):
        cause = cause_of(violation, shape)
        path = located(cause.path.rebased(Path(), start) or start, part.built)
        if path is not None:
            yield cause.at(path)
