"""Named formats (k8s.io/apiserver, pkg/cel/library/format.go)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from crdgen.cel.functions.overloads import Table
from crdgen.cel.functions.urls import URLS
from crdgen.cel.values import MISSING, Optional
from crdgen.formats import is_byte, is_date, is_date_time, is_uuid

_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_VALUE: Final = r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"


@dataclass(frozen=True, slots=True)
class Format:
    """A format by its name."""

    name: str
    cel_type = "kubernetes.NamedFormat"


def _matching(pattern: str, most: int, what: str) -> Callable[[str], list[str]]:
    expression = re.compile(pattern)

    def check(text: str) -> list[str]:
        found = [f"must be no more than {most} bytes"] if len(text.encode()) > most else []
        return found if expression.fullmatch(text) else [*found, f"{what} (regex used for validation is '{pattern}')"]

    return check


def _whether(holds: Callable[[str], bool], what: str) -> Callable[[str], list[str]]:
    return lambda text: [] if holds(text) else [what]


def _prefix(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """A prefix may end with a dash."""
    return lambda text: check(f"{text[:-1]}a" if len(text) > 1 and text.endswith("-") else text)


_RFC1123: Final = (
    "must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
)
_SUBDOMAIN: Final = "must consist of lower case alphanumeric characters, '-' or '.', and must start and end with one"
_label = _matching(_LABEL, 63, f"a lowercase RFC 1123 label {_RFC1123}")
_label_1035 = _matching(r"[a-z]([-a-z0-9]*[a-z0-9])?", 63, "a DNS-1035 label must start with a letter")
_subdomain = _matching(rf"{_LABEL}(\.{_LABEL})*", 253, f"a lowercase RFC 1123 subdomain {_SUBDOMAIN}")
_part = _matching(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", 63, "name part must consist of alphanumeric characters")


def _qualified(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix or (slash and not prefix):
        return ["a qualified name must consist of an optional DNS subdomain prefix, '/', and a name"]
    return [*(_subdomain(prefix) if slash else []), *_part(name)]


_CHECKS: Final[dict[str, Callable[[str], list[str]]]] = {
    "dns1123Label": _label,
    "dns1123Subdomain": _subdomain,
    "dns1035Label": _label_1035,
    "qualifiedName": _qualified,
    "dns1123LabelPrefix": _prefix(_label),
    "dns1123SubdomainPrefix": _prefix(_subdomain),
    "dns1035LabelPrefix": _prefix(_label_1035),
    "labelValue": _matching(_VALUE, 63, "a valid label must be an empty string or consist of alphanumeric characters"),
    "uri": _whether(URLS["isURL", str], "invalid URI for request"),
    "uuid": _whether(is_uuid, "does not match the UUID format"),
    "byte": _whether(is_byte, "invalid base64"),
    "date": _whether(is_date, "invalid date"),
    "datetime": _whether(is_date_time, "invalid datetime"),
}


def _named(name: str) -> Optional:
    return Optional(Format(name)) if name in _CHECKS else Optional()


def _validate(form: Format, text: str) -> Optional:
    return Optional(_CHECKS[form.name](text) or MISSING)


FORMATS: Final[Table] = {("format.named", str): _named, ("validate", Format, str): _validate}
