"""Rules on which of a model's fields are set."""

from dataclasses import dataclass
from difflib import get_close_matches

from crdgen.escaping import escape
from crdgen.generate.errors import SchemaError
from crdgen.markers.marker import Marker
from crdgen.markers.rule import Rule
from crdgen.schema import Schema


@dataclass(frozen=True)
class _Together(Marker):
    """A rule on optional fields of one model.

    Attributes:
        name: What the author wrote.
        names: The fields, as in JSON.
        rule: The expression, around a list of what is set.
        message: Around the names.
    """

    name: str
    names: tuple[str, ...]
    rule: str
    message: str

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with the rule."""
        if len(set(self.names)) < max(2, len(self.names)):
            raise SchemaError(path, f"{self.name} needs two or more different fields", "name each field once")
        tests = ", ".join(f"has(self.{self._field(schema, name, path)})" for name in self.names)
        return Rule(self.rule.format(tests), self.message.format(", ".join(self.names))).apply(schema, path)

    def _field(self, schema: Schema, name: str, path: str) -> str:
        """Return the field's name in CEL, where it may be left out and CEL can tell."""
        properties: dict[str, Schema] = schema.get("properties", {})
        if name not in properties:
            words = name.split("_")
            camel = words[0] + "".join(word.capitalize() for word in words[1:])
            near = [camel] if camel in properties else get_close_matches(name, properties, 1)
            fix = (
                f"write `{near[0]}`"
                if near
                else f"use names as in JSON: {', '.join(sorted(properties)) or 'there is none'}"
            )
            raise SchemaError(path, f"{self.name} names {name}, which is no field", fix)
        at = f"{path}.{name}"
        if name in schema.get("required", ()) or "default" in properties[name]:
            why = "is required" if name in schema.get("required", ()) else "has a default"
            raise SchemaError(at, f"the field {why}, so {self.name} would find it set always", "make None its default")
        if properties[name].get("nullable"):
            raise SchemaError(at, f"{self.name} would count a null as set", "make None the field's default")
        escaped = escape(name)
        if escaped is None:
            raise SchemaError(at, "CEL cannot name this field", "use letters, digits, and `_ - . /` between them")
        return escaped


def exactly_one_of(*names: str) -> Marker:
    """Require that one of these optional fields is set, and no other. Names are as in JSON."""
    return _Together("exactly_one_of", names, "[{}].exists_one(set, set)", "exactly one of {} must be set")


def at_most_one_of(*names: str) -> Marker:
    """Refuse that two of these optional fields are set. Names are as in JSON."""
    return _Together("at_most_one_of", names, "[{}].filter(set, set).size() <= 1", "at most one of {} may be set")


def at_least_one_of(*names: str) -> Marker:
    """Require that one or more of these optional fields are set. Names are as in JSON."""
    return _Together("at_least_one_of", names, "[{}].exists(set, set)", "at least one of {} must be set")
