"""Pydantic's schema generator, adapted to Kubernetes: a method for each kind of type that differs.

A type without a JSON form becomes a note in the node, which a later stage reports with its path.
"""

from collections.abc import Mapping, Sequence
from enum import Enum, Flag
from functools import partial
from typing import Any

from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from crdgen.generate import scalars
from crdgen.generate.encoding import SECRET, NotJsonError, default_forms, is_constant
from crdgen.generate.inline import MARKERS
from crdgen.generate.walk import COMPUTED, FORMS, KEYS, PROBLEM, rules_of
from crdgen.schema.look import distinct

_NOTHING: Any = object()
# Types of enum values that JSON supports.
_SCALARS = (str, int, float, bool, type(None))
_QUADS = r"({0}{{4}})*({0}[AQgw]={{0,2}}|{0}{{2}}[AEIMQUYcgkosw048]=?)?"
# Pydantic reads bytes in either alphabet of base64, padded or not. It writes them in the alphabet for URLs, which the
# API server's format `byte` does not accept.
_BASE64 = f"^({_QUADS.format('[A-Za-z0-9+/]')}|{_QUADS.format('[A-Za-z0-9_-]')})$"
_ONE_DEFAULT = "but a CRD has one default for all objects"
_FACTORY_FIX = (
    "give a plain default, or a factory that is `list`, `dict`, `set` or a model class, or mark the field with "
    "`ModelDefault`: it is then optional, and the model alone fills it in"
)
_TO_JSON = "use a type that JSON can carry, or say its form with `WithJsonSchema({…})`"


class Generator(GenerateJsonSchema):
    """Generates schemas of what types accept."""

    # Core schemas that are referred to.
    _shared: Sequence[CoreSchema] = ()

    def emit_warning(self, kind: str, detail: str) -> None:
        """Ignore warnings: information that would be lost is an error here."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        """Omit titles that only repeat the field's name."""
        return False

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> JsonSchemaValue:
        """Record that the type has no JSON form."""
        name = getattr(schema.get("cls"), "__name__", "") or getattr(schema.get("function", {}), "__name__", "")
        what = {
            "callable": "a function",
            "is-instance": f"an object of class {name}",
            "is-subclass": "a class",
            "function-plain": "what a validator makes of any input",
        }.get(schema["type"], error_info)
        return {PROBLEM: (f"{what} has no form in JSON", _TO_JSON)}

    def is_subclass_schema(self, schema: core_schema.IsSubclassSchema) -> JsonSchemaValue:
        """Record that classes have no JSON form."""
        return self.handle_invalid_for_json_schema(schema, "a class")

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Describe a field with its default as JSON."""
        inner = self.generate_inner(schema["schema"])
        # Errors of the type come first.
        if PROBLEM in inner or any(getattr(marker, "own_default", False) for marker in inner.get(MARKERS, ())):
            return inner
        try:
            default = _default(schema)
            if default is _NOTHING:
                return inner
            form, *other_forms = default_forms(default, self._core(schema), self._config.config_dict)
        except NotJsonError as error:
            return inner | {PROBLEM: (str(error), error.fix)}
        if inner.get("format") == "password" and form:
            return inner | {PROBLEM: SECRET}
        return inner | {"default": form} | ({FORMS: other_forms} if other_forms else {})

    def _core(self, schema: Any) -> Any:
        """Return a self-contained core schema of a field, with its references and its `@field_serializer`."""
        serialization = schema.get("serialization", {})
        if serialization.get("is_field_serializer"):
            without_model = {"function": partial(serialization["function"], None), "is_field_serializer": False}
            schema = schema | {"serialization": serialization | without_model}
        return core_schema.definitions_schema(schema, [*self._shared]) if self._shared else schema

    def definitions_schema(self, schema: core_schema.DefinitionsSchema) -> JsonSchemaValue:
        """Describe a schema with the schemas that it refers to."""
        self._shared = schema["definitions"]
        return super().definitions_schema(schema)

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Describe a model."""
        return self._of_class(super().model_schema(schema), schema)

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """Describe a dataclass."""
        return self._of_class(super().dataclass_schema(schema), schema)

    def _of_class(self, node: JsonSchemaValue, schema: Any) -> JsonSchemaValue:
        """Return the node of a class with its rules, computed fields, and notes on its fields."""
        class_: Any = schema["cls"]
        config = getattr(class_, "model_config", None) or getattr(class_, "__pydantic_config__", None) or {}
        titled = bool(config.get("title") or config.get("model_title_generator"))
        node = _with_rules(_without_defaults(node, class_, titled=titled), class_)
        if getattr(class_, "__pydantic_root_model__", False):
            return node
        fields_schema = schema["schema"]
        while "fields" not in fields_schema:  # inside validators
            fields_schema = fields_schema["schema"]
        fields, properties = fields_schema["fields"], node.get("properties", {})
        seen = set()
        for name, field in fields.items() if isinstance(fields, dict) else ((field["name"], field) for field in fields):
            json_name = self._get_alias_name(field, name)
            if json_name in seen:
                fix = "give one of them another alias"
                return node | {PROBLEM: (f"two fields are called `{json_name}` in JSON", fix)}
            seen.add(json_name)
            if json_name in properties:
                by_alias = config.get("validate_by_alias") is not False
                node_of_field = _with_name_problem(properties[json_name], name, field, by_alias=by_alias)
                properties[json_name] = _with_deprecation(
                    node_of_field, getattr(class_, "__pydantic_fields__", {}).get(name)
                )
        # Writers of the model also write computed fields.
        computed = {
            field.get("alias", field["property_name"]): self.generate_inner(field)
            for field in fields_schema.get("computed_fields", ())
        }
        return node | {COMPUTED: computed} if computed else node

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        """Describe a TypedDict."""
        result = super().typed_dict_schema(schema)
        class_: Any = schema.get("cls")
        return _without_defaults(result, class_, titled=False) if class_ is not None else result

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        """Describe an enum, without duplicate values of several names."""
        kind: type[Enum] = schema["cls"]
        if issubclass(kind, Flag):
            problem = f"{kind.__name__} is a Flag: every combination of its members is a value"
            return {PROBLEM: (problem, "use a set of an Enum's members, or an `int` with bounds")}
        odd = next((member.value for member in schema["members"] if not isinstance(member.value, _SCALARS)), None)
        if odd is not None and schema.get("missing") is None:
            problem = f"no JSON is read as the value {odd!r} of the enum {kind.__name__}"
            return {PROBLEM: (problem, "give its members texts or numbers as values")}
        node = _without_defaults(super().enum_schema(schema), kind, titled=False)
        if "enum" in node:
            node["enum"] = distinct(node["enum"])
        return node

    def _map(self, schema: Any) -> JsonSchemaValue:
        values = self.generate_inner(schema["values_schema"]) if "values_schema" in schema else {}
        result: JsonSchemaValue = {"type": "object", "additionalProperties": values or True}
        keys = self.generate_inner(schema["keys_schema"]) if "keys_schema" in schema else {}
        # Without a type of values, no rule can check the lengths of keys that come from the model's settings.
        plain = [{"type": "string"}] if values else [{"type": "string"}, {"type": "string"} | self._lengths()]
        if keys and keys not in plain:
            result[KEYS] = keys
        self.update_with_validations(result, schema, self.ValidationsMapping.object)
        return result

    def dict_schema(self, schema: Any) -> JsonSchemaValue:
        """Describe a map. In JSON its keys are strings, and have no order."""
        return self._map(schema)

    frozendict_schema = dict_schema
    ordered_dict_schema = dict_schema

    def counter_schema(self, schema: Any) -> JsonSchemaValue:
        """Describe a map of numbers."""
        return self._map({"values_schema": core_schema.int_schema(), **schema})

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        """Describe a string, with the lengths from the model's settings."""
        return self._lengths() | super().str_schema(schema)

    def _lengths(self) -> JsonSchemaValue:
        settings = {"minLength": self._config.str_min_length or None, "maxLength": self._config.str_max_length}
        return {key: length for key, length in settings.items() if length is not None}

    def bytes_schema(self, schema: core_schema.BytesSchema) -> JsonSchemaValue:
        """Describe bytes: base64 or hex if the model's settings say so, else the encoded text."""
        least, most = schema.get("min_length"), schema.get("max_length")
        result: JsonSchemaValue = {"type": "string"}
        factor = 1.0
        if self._config.val_json_bytes == "base64":
            result["pattern"] = _BASE64
            least = None if least is None else -(-least * 4 // 3)
            most = None if most is None else -(-most // 3) * 4
        elif self._config.val_json_bytes == "hex":
            result["pattern"] = "^([0-9a-fA-F]{2})*$"
            factor = 2
        lengths = {"minLength": least, "maxLength": most}
        return result | {key: int(size * factor) for key, size in lengths.items() if size is not None}

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """Describe a decimal number."""
        return scalars.decimal(schema)

    def complex_schema(self, schema: core_schema.ComplexSchema) -> JsonSchemaValue:  # noqa: ARG002
        """Describe a complex number, which is a string."""
        return {"type": "string"}

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        """Describe a datetime."""
        return scalars.datetime_(schema)

    def date_schema(self, schema: core_schema.DateSchema) -> JsonSchemaValue:
        """Describe a date."""
        return scalars.date_(schema)

    def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:
        """Describe a time of day."""
        return scalars.time_(schema)

    def timedelta_schema(self, schema: core_schema.TimedeltaSchema) -> JsonSchemaValue:
        """Describe a duration."""
        settings = self._config.config_dict
        written_as = settings.get("ser_json_temporal") or settings.get("ser_json_timedelta") or "iso8601"
        return scalars.duration(schema, as_number=written_as != "iso8601")

    def url_schema(self, schema: core_schema.UrlSchema) -> JsonSchemaValue:
        """Describe a URL, with its allowed schemes."""
        return super().url_schema(schema) | _schemes(schema)

    def multi_host_url_schema(self, schema: core_schema.MultiHostUrlSchema) -> JsonSchemaValue:
        """Describe a URL of several hosts, which has no format."""
        return super().multi_host_url_schema(schema) | _schemes(schema)


def _default(schema: core_schema.WithDefaultSchema) -> Any:
    """Return the default of a field, also from a factory, or `_NOTHING`."""
    factory: Any = schema.get("default_factory")
    if factory is None:
        default = schema.get("default", _NOTHING)
        return _NOTHING if repr(default) == "<MISSING>" else default
    if schema.get("default_factory_takes_data"):
        raise NotJsonError(f"its default_factory makes a default of other fields, {_ONE_DEFAULT}", _FACTORY_FIX)
    try:
        default = factory()
    except Exception as error:  # a model's validators may raise anything
        problem = f"its default_factory fails: {type(error).__name__}: {' '.join(str(error).split())}"
        raise NotJsonError(problem, "use a complete default, or none") from error
    if not is_constant(factory):
        raise NotJsonError(f"its default_factory may give another value each time, {_ONE_DEFAULT}", _FACTORY_FIX)
    return default


def _schemes(schema: Mapping[str, Any]) -> JsonSchemaValue:
    schemes = schema.get("allowed_schemes")
    return {"pattern": f"^(?i:{'|'.join(scheme.replace('+', '[+]') for scheme in schemes)}):"} if schemes else {}


def _with_rules(schema: JsonSchemaValue, declared: type) -> JsonSchemaValue:
    markers = rules_of(declared)
    return schema | {MARKERS: [*schema.get(MARKERS, ()), *markers]} if markers else schema


def _without_defaults(schema: JsonSchemaValue, declared: type, *, titled: bool) -> JsonSchemaValue:
    """Return the node without a title that is the class name, and without a docstring of Pydantic."""
    dropped = set()
    if not titled and schema.get("title") == declared.__name__:
        dropped.add("title")
    origin = getattr(declared, "__pydantic_generic_metadata__", {}).get("origin") or declared
    if origin.__module__.partition(".")[0] == "pydantic":
        dropped.add("description")
    return {key: value for key, value in schema.items() if key not in dropped}


def _with_name_problem(node: JsonSchemaValue, name: str, field: Any, *, by_alias: bool) -> JsonSchemaValue:
    """Record a problem if a field is not read and written by the same name."""
    if field.get("serialization_exclude") is True:
        field = {**field, "serialization_alias": field.get("validation_alias", name)}
    read_name = field.get("validation_alias", name) if by_alias else name
    if isinstance(read_name, list):
        problem = "the field is read from other places"
        return node | {PROBLEM: (problem, "keep one name, as `alias=`, and write the objects around it as models")}
    written_name = field.get("serialization_alias", name)
    if read_name != written_name:
        problem = f"the field is read as `{read_name}` and written as `{written_name}`"
        return node | {
            PROBLEM: (problem, "use `alias=` alone, without `validate_by_alias=False` or another name beside it")
        }
    return node


def _with_deprecation(node: JsonSchemaValue, field: FieldInfo | None) -> JsonSchemaValue:
    # For `deprecated=True`, Pydantic creates a message without further information.
    message = None if field is None or field.deprecated is True else field.deprecation_message
    return node | {"deprecated": message} if node.get("deprecated") and message else node
