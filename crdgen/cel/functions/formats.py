"""Named formats (k8s.io/apiserver, pkg/cel/library/format.go), with the API server's texts for what is wrong."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from crdgen.cel.declarations import FORMATS as NAMES
from crdgen.cel.functions.overloads import Table
from crdgen.cel.values import MISSING, Optional
from crdgen.dns import masked
from crdgen.formats import is_byte, is_date, is_date_time, is_uuid
from crdgen.urls import BadURL, check
from crdgen.utf8 import utf8

_Check: TypeAlias = Callable[[str], list[str]]

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_PART: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"


@dataclass(frozen=True, slots=True)
class Format:
    """A format by its name."""

    name: str
    cel_type = "kubernetes.NamedFormat"


def _matching(pattern: str, most: str, what: str, *examples: str) -> _Check:
    expression = re.compile(pattern)
    shown = " or ".join(f"'{example}', " for example in examples)

    def check_(text: str) -> list[str]:
        found = [f"must be no more than {most}"] if len(utf8(text)) > int(most.split(maxsplit=1)[0]) else []
        if expression.fullmatch(text):
            return found
        return [*found, f"{what} (e.g. {shown}regex used for validation is '{pattern}')"]

    return check_


def _whether(holds: Callable[[str], bool], what: str) -> _Check:
    return lambda text: [] if holds(text) else [what]


def _prefix(check_: _Check) -> _Check:
    """A prefix may end with a dash."""
    return lambda text: check_(masked(text))


_ENDS: Final = "and must start and end with an alphanumeric character"
_label_but_for_dots = _matching(
    _LABEL,
    "63 characters",
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_ENDS}",
    *("my-name", "123-abc"),
)
_subdomain = _matching(
    _SUBDOMAIN,
    "253 characters",
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {_ENDS}",
    "example.com",
)
_label_1035 = _matching(
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "63 characters",
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character",
    *("my-name", "abc-123"),
)
_value = _matching(
    f"({_PART})?",
    "63 bytes",
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', {_ENDS}",
    *("MyValue", "my_value", "12345"),
)
_part = _matching(
    _PART,
    "63 bytes",
    f"must consist of alphanumeric characters, '-', '_' or '.', {_ENDS}",
    *("MyName", "my.name", "123-abc"),
)


def _label(text: str) -> list[str]:
    found = _label_but_for_dots(text)
    return [*found[:-1], "must not contain dots"] if "." in text and re.fullmatch(_SUBDOMAIN, text) else found


def _qualified(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        (form,) = _part("")
        return [f"a valid label key {form} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    empty = ["must be non-empty"]
    found = [f"prefix part {message}" for message in ((_subdomain(prefix) if prefix else empty) if slash else ())]
    return [*found, *(f"name part {message}" for message in [*([] if name else empty), *_part(name)])]


def _uri(text: str) -> list[str]:
    try:
        check(text)
    except BadURL as error:
        return [str(error)]
    return []


_CHECKS: Final[dict[str, _Check]] = {
    "dns1123Label": _label,
    "dns1123Subdomain": _subdomain,
    "dns1035Label": _label_1035,
    "qualifiedName": _qualified,
    "dns1123LabelPrefix": _prefix(_label),
    "dns1123SubdomainPrefix": _prefix(_subdomain),
    "dns1035LabelPrefix": _prefix(_label_1035),
    "labelValue": _value,
    "uri": _uri,
    "uuid": _whether(is_uuid, "does not match the UUID format"),
    "byte": _whether(is_byte, "invalid base64"),
    "date": _whether(is_date, "invalid date"),
    "datetime": _whether(is_date_time, "invalid datetime"),
}


def _named(name: str) -> Optional:
    return Optional(Format(name)) if name in _CHECKS else Optional()


def _validate(form: Format, text: str) -> Optional:
    return Optional(_CHECKS[form.name](text) or MISSING)


FORMATS: Final[Table] = {
    ("format.named", str): _named,
    ("validate", Format, str): _validate,
    **{(f"format.{name}",): partial(Format, name) for name in NAMES},
}
