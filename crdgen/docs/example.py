"""A minimal valid object for a schema."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from crdgen.docs.types import kubernetes_type
from crdgen.evaluate import Evaluator
from crdgen.evaluate.evaluation import decode_schema
from crdgen.lint import check_structural
from crdgen.schema import INT_OR_STRING, Schema
from crdgen.schema.look import mapping, members, number

_TEXTS: Final = {
    "byte": "dGV4dA==",
    "cidr": "10.0.0.0/8",
    "date": "2006-01-02",
    "date-time": "2006-01-02T15:04:05Z",
    "duration": "30s",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "mac": "00:00:5e:00:53:01",
    "uri": "https://example.com/",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
}
_POD_TEMPLATE: Final = {"spec": {"containers": [{"name": "main", "image": "example.com/image:1"}]}}


def example(head: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an object with this head (apiVersion, kind, metadata), required fields, and the examples of authors.

    It is None if a pattern, a branch or a rule requires values that cannot be guessed.
    """
    if check_structural(dict(schema)):
        return None  # an invalid schema has no objects
    decoded: Schema = decode_schema(dict(schema))
    body = _object(decoded)
    spec = mapping(decoded, "properties", "spec")
    if spec and "spec" not in body:
        body["spec"] = _value(spec)
    document = {**head, **{key: value for key, value in body.items() if key not in head and key != "status"}}
    evaluator = Evaluator(decoded)
    return None if evaluator.validate(evaluator.default(evaluator.prune(document))) else document


def _value(schema: Mapping[str, Any]) -> Any:
    values = [schema[keyword] for keyword in ("example", "default") if keyword in schema]
    if values := [*values, *members(schema.get("enum"))]:
        return values[0]
    if kubernetes_type(schema) == "PodTemplateSpec":
        return _POD_TEMPLATE
    value_of = _VALUES_BY_TYPE.get(str(schema.get("type")))
    return value_of(schema) if value_of else 1 if schema.get(INT_OR_STRING) is True else {}


def _object(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = mapping(schema, "properties")
    required = members(schema.get("required"))
    return {
        name: _value(mapping(properties, name))
        for name in properties
        if name in required or "example" in mapping(properties, name)
    }


def _list(schema: Mapping[str, Any]) -> list[Any]:
    return [_value(mapping(schema, "items"))] * min(int(number(schema.get("minItems")) or 0), 3)


def _number(schema: Mapping[str, Any]) -> float:
    least, most = number(schema.get("minimum")), number(schema.get("maximum"))
    if least is not None:
        return least + 1 if schema.get("exclusiveMinimum") is True else max(least, min(1, most or 1))
    return number(schema.get("multipleOf")) or (1 if most is None else min(most - 1, 1))


def _text(schema: Mapping[str, Any]) -> str:
    name = schema.get("format")
    text = _TEXTS.get(name, "text") if isinstance(name, str) else "text"
    least, most = number(schema.get("minLength")) or 0, number(schema.get("maxLength"))
    return text.ljust(min(int(least), 64), "x")[: None if most is None else int(most)]


_VALUES_BY_TYPE: Final[dict[str, Callable[[Mapping[str, Any]], Any]]] = {
    "array": _list,
    "boolean": lambda _: True,
    "integer": _number,
    "number": _number,
    "object": _object,
    "string": _text,
}
