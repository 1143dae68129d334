"""What the names of a resource must be like, and its labels and annotations.

The rules are the API server's: k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go, and
k8s.io/apimachinery, pkg/util/validation.
"""

import re
from collections import Counter
from typing import Final
from urllib.parse import urlsplit

from crdgen.errors import SchemaError
from crdgen.resource import CustomResource, Names, Version

#: A DNS label that begins with a letter (RFC 1035).
LABEL: Final = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
#: A DNS subdomain (RFC 1123).
SUBDOMAIN: Final = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_QUALIFIED: Final = re.compile(r"(?:(?P<prefix>[^/]*)/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_VALUE: Final = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")

_OF_KUBERNETES: Final = ("k8s.io", "kubernetes.io")
API_APPROVED: Final = "api-approved.kubernetes.io"
_MOST_BYTES_OF_ANNOTATIONS: Final = 262_144
_LONGEST_WARNING: Final = 256
_LONGEST_NAME: Final = 253


def check_names(resource: CustomResource) -> None:
    """Check group, names, versions, labels and annotations.

    Raises:
        SchemaError: When the API server would refuse one of them.
    """
    kind = resource.names.kind
    _check_group(resource)
    _check_kind(resource.names)
    if len(f"{resource.names.plural}.{resource.group}") > _LONGEST_NAME:
        raise SchemaError(kind, f"plural and group have more than {_LONGEST_NAME} characters", "shorten one of them")
    if resource.scope not in {"Namespaced", "Cluster"}:
        raise SchemaError(kind, f"scope {resource.scope!r} is unknown", 'use "Namespaced" or "Cluster"')
    _check_versions(resource.versions, kind)
    _check_metadata(resource, kind)


def annotations(resource: CustomResource) -> dict[str, str]:
    """Return the annotations of the definition, with who approved of the API."""
    return dict(resource.annotations) | ({API_APPROVED: resource.api_approved} if resource.api_approved else {})


def _check_group(resource: CustomResource) -> None:
    group, kind = resource.group, resource.names.kind
    if not SUBDOMAIN.fullmatch(group) or "." not in group:
        raise SchemaError(kind, f"{group!r} is no API group", "use a lower-case domain name, as `jobs.example.com`")
    if not any(group == owner or group.endswith(f".{owner}") for owner in _OF_KUBERNETES):
        return
    approved = annotations(resource).get(API_APPROVED, "")
    address = urlsplit(approved)
    if not approved.startswith("unapproved") and not (address.scheme and address.netloc):
        fix = "set `api_approved` to the URL of the approval, or to `unapproved, …`; or use a group of your own"
        raise SchemaError(kind, f"the group {group} is Kubernetes' own, and nobody approved of the API", fix)


def _check_kind(names: Names) -> None:
    kind = names.kind
    labels = [("kind", kind.lower()), ("list kind", names.list_kind.lower()), ("plural", names.plural)]
    labels += [("singular", names.singular), *(("short name", name) for name in names.short_names)]
    labels += [("category", name) for name in names.categories]
    for word, name in labels:
        if not LABEL.fullmatch(name):
            fix = "use up to 63 letters, digits and dashes, a letter first"
            given = {"kind": kind, "list kind": names.list_kind}.get(word, name)
            raise SchemaError(
                kind, f"the {word} {given!r} is no DNS label", fix + ("" if "kind" in word else ", lower-case")
            )
    if names.list_kind == kind:
        raise SchemaError(kind, "a list of them has the same kind", f"call it `{kind}List`")


def _check_versions(versions: tuple[Version, ...], kind: str) -> None:
    stored = [version.name for version in versions if version.storage]
    if len(stored) != 1:
        raise SchemaError(
            kind,
            f"{len(stored)} versions are stored ({', '.join(stored) or 'none'})",
            "set `storage=True` on exactly one version",
        )
    if not any(version.served for version in versions):
        raise SchemaError(kind, "no version is served, so nobody can use the kind", "set `served=True` on one version")
    for name, count in Counter(version.name for version in versions).items():
        if count > 1:
            raise SchemaError(kind, f"the version {name} is there {count} times", "give each its own name")
    for version in versions:
        _check_version(version, f"{kind} {version.name}")


def _check_version(version: Version, at: str) -> None:
    if not LABEL.fullmatch(version.name):
        fix = "use lower-case letters, digits and dashes, as `v1alpha1`"
        raise SchemaError(at, f"{version.name!r} is no name of a version", fix)
    warning = version.deprecated
    if not isinstance(warning, str):
        return
    if not warning.strip():
        raise SchemaError(at, "the deprecation warning is blank", "say what to use, or `deprecated=True`")
    if len(warning.encode()) > _LONGEST_WARNING:
        problem = f"the deprecation warning has {len(warning.encode())} bytes"
        raise SchemaError(at, problem, f"the API server takes {_LONGEST_WARNING}: shorten it")
    if not warning.isprintable():
        bad = next(character for character in warning if not character.isprintable())
        raise SchemaError(at, f"the deprecation warning holds {bad!r}", "use printable characters, on one line")


def _check_metadata(resource: CustomResource, kind: str) -> None:
    of_definition = annotations(resource)
    for word, names in (("a label", resource.labels), ("an annotation", of_definition)):
        for name in names:
            found = _QUALIFIED.fullmatch(name if word == "a label" else name.lower())
            prefix = found["prefix"] if found else None
            if found is None or (prefix is not None and not SUBDOMAIN.fullmatch(prefix)):
                raise SchemaError(kind, f"{name!r} is no name of {word}", "write it as `example.com/name`")
    for name, value in resource.labels.items():
        if not _VALUE.fullmatch(value):
            fix = "use up to 63 letters, digits, and `- _ .` between them"
            raise SchemaError(kind, f"{value!r} is no value of the label {name}", fix)
    count = sum(len(name.encode()) + len(value.encode()) for name, value in of_definition.items())
    if count > _MOST_BYTES_OF_ANNOTATIONS:
        fix = f"the API server takes {_MOST_BYTES_OF_ANNOTATIONS}"
        raise SchemaError(kind, f"the annotations have {count} bytes", fix)
