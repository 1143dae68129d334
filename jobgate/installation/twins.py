"""The expressions of admission policies: what CEL can say of the defaults and rules of a kind (`jobs/twins.py`).

- A MutatingAdmissionPolicy sets the defaults. It never denies: what fails in it is left to the webhook.
- The mutating webhook is called only for the creates that still need it. The condition looks at the object alone, so it
  is right without the policy, too. The API server denies a request if a condition fails with an error, and checks the
  schema only later: so the condition is also true for values of a wrong type.
- A ValidatingAdmissionPolicy denies faults. It comes after the schema, so all values have their types.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from jobgate.installation.tree import Expression, joined, setting
from jobgate.jobs.kind import CustomKind, JobKind
from jobgate.jobs.twins import Fault, Fill, Need, Place, Said, said_by
from webhook.kind import UnknownField
from webhook.view import held_by

_EACH: Final = "*"
_EACH_TASK: Final = "tasks.*"
_POD: Final = "task.template.spec"
#: The lists of containers in a template, with the places that are there.
_LISTS: Final = {"containers": (Place.CONTAINER, Place.ANY_CONTAINER), "initContainers": (Place.ANY_CONTAINER,)}
_FIELD: Final = re.compile(r"\$\(([a-z_.*]+)\)")
_FAULTY: Final = "faulty"
#: The setting that a rule may name like a field.
_JOB_PODS: Final = "job_pods"


class Twins:
    """The expressions of a kind.

    Attributes:
        complete: whether each default has a twin.
        faults: what each rule says, by name; only of rules that say something.
        filled: names of the defaults that the policy sets, with False for those that it sets only in some objects.
        left: names of the defaults and the rules that the policies leave to the webhook as a whole.
    """

    def __init__(self, kind: CustomKind) -> None:
        """Collect what the defaults and rules of a kind say."""
        self._kind = kind
        fields = kind.task_fields if isinstance(kind, JobKind) else ()
        # Tasks in several fields have no twins.
        self._way: tuple[str, ...] = tuple(map(str, fields)) if all(isinstance(step, str) for step in fields) else ()
        self._tasks = ".".join(("object", *self._way)) if self._way else ""
        self._is_map = bool(self._way) and held_by(kind.spec, kind.field("tasks").attributes[0])[0] is dict
        defaults = {str(getattr(default, "__name__", "")): self._said(default) for default in kind.defaults}
        rules = {rule.name: self._said(rule) for rule in kind.rules}
        said = [each for of in defaults.values() for each in of or ()]
        self._fills = [each for each in said if isinstance(each, Fill)]
        self._needs = [each for each in said if isinstance(each, Need)]
        self.complete = None not in defaults.values()
        self.faults = {name: [each for each in of if isinstance(each, Fault)] for name, of in rules.items() if of}
        filled = {name: of for name, of in defaults.items() if any(isinstance(each, Fill) for each in of or ())}
        self.filled = {name: all(map(_is_whole, of or ())) for name, of in filled.items()}
        said_of = (defaults | rules).items()
        self.left = [name for name, of in said_of if of is None or (of and name not in {*filled, *self.faults})]

    def _said(self, function: object) -> list[Said] | None:
        """Return what a default or rule says of this kind; None if nothing."""
        known, unknown = list[Said](), 0
        for twin in (twins := said_by(function)) or ():
            try:
                known.append(self._in_kind(twin(self._kind) if callable(twin) else twin))
            except UnknownField:
                unknown += 1
        # A default must be said as a whole; a rule may also be about fields of other kinds.
        is_said = not unknown or any(isinstance(each, Fault) for each in known)
        return known if twins is not None and is_said else None

    def _in_kind(self, said: Said) -> Said:
        """Return a twin with the fields of this kind.

        Raises:
            UnknownField: the kind does not have one of them.
        """
        if isinstance(said, Fault):
            it = self._path(said.field)
            when = _both(*(_has(it) if it != self._tasks else ()), self._resolved(said.when.replace("$(it)", it)))
            if "$(tasks.replicas)" in said.when and "scale" in self._kind.spec.model_fields:
                when = f"!has(object.spec.scale) && ({when})"  # it may have the replicas of a task
            return Fault(said.field, when)
        if said.place is not Place.JOB and not self._way:
            raise UnknownField("tasks")
        return said

    def _resolved(self, text: str) -> str:
        return _FIELD.sub(lambda match: match[0] if match[1] == _JOB_PODS else self._path(match[1]), text)

    def _path(self, field: str) -> str:
        """Return a field in expressions: below `object`, or below `task` for each task.

        Raises:
            UnknownField: the kind does not have the field, or several of it.
        """
        if field.startswith("metadata."):
            return f"object.{field}"
        of_tasks = field.startswith("tasks")
        if of_tasks and not self._way:
            raise UnknownField(field)
        if field in {"tasks", _EACH_TASK}:
            return "task" if field == _EACH_TASK else self._tasks
        steps = self._kind.field(field).steps or ()
        way = (*self._way, _EACH)
        if of_tasks and steps[: len(way)] == way:
            base, steps = "task", steps[len(way) :]
        else:
            base = "object"
        if not steps or _EACH in steps or of_tasks is (base == "object"):
            raise UnknownField(field)
        return ".".join((base, *steps))

    # Defaults

    @property
    def lacks(self) -> str:
        """The condition that a default is absent which the policy knows."""
        return self._lack(self._fills)

    def _lack(self, fills: Sequence[Fill]) -> str:
        return self._some([(fill.place, _both(*_absent(fill), fill.when)) for fill in fills])

    @property
    def needs(self) -> str:
        """The condition that only the webhook can default the object, or that a value has a wrong type."""
        fills = [(fill.place, fill.need or _both(*_absent(fill), fill.when)) for fill in self._fills]
        return self._some([*fills, *((need.place, need.when) for need in self._needs)], guarded=True)

    def _some(self, tests: Sequence[tuple[Place, str]], *, guarded: bool = False) -> str:
        """Return the condition that one of these holds; if guarded, or that a value on the way has a wrong type."""

        def of(*places: Place) -> list[str]:
            return list(dict.fromkeys(test for place, test in tests if place in places))

        def typed(way: str, name: str, *inside: str) -> str:
            """Return a condition on a field, if it is there: a wrong type, or one of those inside."""
            return _both(f"has({way})", _any(*([f"type({way}) != {name}"] if guarded else []), *inside))

        lists = []
        for field, places in _LISTS.items():
            found, way = of(*places), f"{_POD}.{field}"
            if guarded and "container.resources" in str(found):
                sides = (typed(f"container.resources.{side}", "map") for side in ("requests", "limits"))
                found.insert(0, typed("container.resources", "map", *sides))
            if found:
                found = ["type(container) != map", *found] if guarded else found
                lists.append(typed(way, "list", f"{way}.exists(index, container, {_any(*found)})"))
        whole, found = of(Place.JOB), of(Place.TASK)
        inside = [typed(_POD, "map", *lists)] if lists or (guarded and "template.spec" in str(found)) else []
        if guarded:
            annotations = typed("task.template.metadata.annotations", "map")
            inside += [typed("task.template.metadata", "map", annotations)] if "metadata" in str(found) else []
            found.insert(0, "type(task) != map")
            ways = [".".join(("object", *self._way[:length])) for length in range(1, len(self._way) + 1)]
            types = ["map"] * (len(ways) - 1) + ["map" if self._is_map else "list"]
            for way, name in zip(ways, types, strict=True) if ways else [("object.spec", "map")]:
                whole.append(f"!has({way}) || type({way}) != {name}")
        found += [typed("task.template", "map", *inside)] if inside else []
        return _any(*whole, *([f"{self._tasks}.exists(at, task, {_any(*found)})"] if self._way and found else []))

    @property
    def patch(self) -> str:
        """The JSON patch that adds what is absent."""
        inner = [fill for fill in self._fills if fill.place not in {Place.JOB, Place.TASK}]
        outer = [self._operations(fill, "") for fill in self._fills if fill not in inner]
        if inner:
            operations = " + ".join(self._operations(fill, field) for fill in inner for field in _lists(fill))
            outer.append(f"({self._lack(inner)} ? {operations} : [])")  # few jobs lack one of these
        return " + ".join(outer)

    def _operations(self, fill: Fill, field: str) -> str:
        """Return the operations of one fill; `field` is the list of its containers."""
        key = 'at.replace("~", "~0").replace("/", "~1")' if self._is_map else "string(at)"
        task = f'"/{"/".join(self._way)}/" + {key}'
        path, test = json.dumps(f"/{fill.path.replace('.', '/')}"), _both(*_absent(fill), fill.when)
        if fill.place is Place.JOB:
            return f"({test} ? [{_add(path, fill.value)}] : [])"
        if fill.place is Place.TASK:
            return f"{self._tasks}.transformList(at, task, {test}, {_add(f'{task} + {path}', fill.value)})"
        way = f"{_POD}.{field}"
        added = _add(f'{task} + "/template/spec/{field}/" + string(index) + {path}', fill.value)
        inner = f"{way}.transformList(index, container, {test}, {added})"
        return f"{self._tasks}.transformList(at, task, {_both(*_has(way))}, {inner}).flatten()"

    # Rules

    def variables(self) -> list[dict[str, Any]]:
        """Return the variables: of the new and the old object, whether it is faulty, and the texts of each rule."""
        objects = {"name": "objects", "expression": "oldObject == null ? [object] : [object, oldObject]"}
        about = {rule.name: rule.about.partition(". ")[0].removesuffix(".") for rule in self._kind.rules}
        all_faults = [fault for of in self.faults.values() for fault in of]
        tests = [
            (Place.TASK if self._path(each.field).startswith("task") else Place.JOB, each.when) for each in all_faults
        ]
        texts = {name: " + ".join(self._text(each, about[name]) for each in of) for name, of in self.faults.items()}
        expressions = {_FAULTY: self._in_objects(self._some(tests), "false")}
        expressions |= {name: self._in_objects(text, "[]") for name, text in texts.items()}
        return [objects, *({"name": name, "expression": expression} for name, expression in expressions.items())]

    def _in_objects(self, expression: str, otherwise: str) -> str | Expression:
        """Return the values of an expression in the objects; `otherwise` in one that has no tasks."""
        expression = f"{_both(*_has(self._tasks))} ? ({expression}) : {otherwise}" if self._way else expression
        first, *others = f"variables.objects.map(object, {expression})".split(f"$({_JOB_PODS})")
        limit = setting(_JOB_PODS)
        return joined(first, *(part for other in others for part in (limit, other))) if others else first

    def _text(self, fault: Fault, about: str) -> str:
        base, _, below = self._path(fault.field).partition(".")
        if base == "object":
            return f"({fault.when} ? [{json.dumps(f'{below}: {about}')}] : [])"
        start, end = (
            json.dumps(text) for text in (f"{'.'.join(self._way)}[", f"]{'.' if below else ''}{below}: {about}")
        )
        return f"{self._tasks}.transformList(at, task, {fault.when}, {start} + string(at) + {end})"

    def validation(self) -> dict[str, Any]:
        """Return the validation: no rule finds a fault, unless the old object has one, too.

        The API server evaluates the message for each object. So the texts are only for objects with a fault.
        """
        texts = " + ".join(f"variables.{name}[0]" for name in self.faults)
        return {
            "expression": f"!variables.{_FAULTY}[0] || (variables.objects.size() > 1 && variables.{_FAULTY}[1])",
            "message": "the object breaks rules of its kind",
            "messageExpression": f'variables.{_FAULTY}[0] ? ({texts}).join("; ") : ""',
            "reason": "Invalid",
        }


def _is_whole(said: Said) -> bool:
    """Return whether a default does no more than this says."""
    return isinstance(said, Fill) and not said.need


def _lists(fill: Fill) -> list[str]:
    """Return the lists of containers that a fill is for."""
    return [field for field, places in _LISTS.items() if fill.place in places]


def _has(way: str) -> list[str]:
    """Return the conditions that a field is there, and the objects around it; those that have a variable are."""
    first, *steps = way.split(".")
    return [f"has({'.'.join((first, *steps[:length]))})" for length in range(1, len(steps) + 1)]


def _absent(fill: Fill) -> list[str]:
    """Return the conditions that a fill has a place, and nothing is there; null is nothing."""
    base = "container" if fill.place is Place.ANY_CONTAINER else str(fill.place)
    *around, last = fill.path.split(".")
    way = ".".join((base, *around))
    return [*_has(way), *([] if last == "-" else [f"(!has({way}.{last}) || {way}.{last} == null)"])]


def _both(*tests: str) -> str:
    known = [f"({test})" if "||" in test or " ? " in test else test for test in tests if test not in {"", "true"}]
    return " && ".join(known) or "true"


def _any(*tests: str) -> str:
    return " || ".join(f"({test})" if " ? " in test else test for test in tests)


def _add(path: str, value: str) -> str:
    return f'JSONPatch{{op: "add", path: {path}, value: {value}}}'
