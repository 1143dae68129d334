"""What the names of a resource must be like, and its labels and annotations.

The rules are the API server's: k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go, and
k8s.io/apimachinery, pkg/util/validation.
"""

from collections import Counter
from urllib.parse import urlsplit

from crdgen.dns import SUBDOMAIN_LENGTH, is_key, is_label, is_label_value, is_subdomain
from crdgen.generate.errors import SchemaError
from crdgen.resource.resource import CustomResource, Names, Version
from crdgen.schema import limits
from crdgen.schema.limits import API_APPROVED, COMMUNITY_GROUPS
from crdgen.utf8 import utf8


def check_names(resource: CustomResource) -> None:
    """Check group, names, versions, labels and annotations.

    Raises:
        SchemaError: When the API server would refuse one of them.
    """
    kind = resource.names.kind
    _check_group(resource)
    _check_kind(resource.names)
    if len(f"{resource.names.plural}.{resource.group}") > SUBDOMAIN_LENGTH:
        raise SchemaError(kind, f"plural and group have more than {SUBDOMAIN_LENGTH} characters", "shorten one of them")
    if resource.scope not in {"Namespaced", "Cluster"}:
        raise SchemaError(kind, f"scope {resource.scope!r} is unknown", 'use "Namespaced" or "Cluster"')
    _check_versions(resource.versions, kind)
    _check_metadata(resource, kind)


def annotations(resource: CustomResource) -> dict[str, str]:
    """Return the annotations of the definition, with who approved of the API."""
    return dict(resource.annotations) | ({API_APPROVED: resource.api_approved} if resource.api_approved else {})


def _check_group(resource: CustomResource) -> None:
    group, kind = resource.group, resource.names.kind
    if not is_subdomain(group) or "." not in group:
        raise SchemaError(kind, f"{group!r} is no API group", "use a lower-case domain name, as `jobs.example.com`")
    if not any(group == owner or group.endswith(f".{owner}") for owner in COMMUNITY_GROUPS):
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
        if not is_label(name):
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
    if not is_label(version.name):
        fix = "use lower-case letters, digits and dashes, as `v1alpha1`"
        raise SchemaError(at, f"{version.name!r} is no name of a version", fix)
    warning = version.deprecated
    if not isinstance(warning, str):
        return
    if not warning.strip():
        raise SchemaError(at, "the deprecation warning is blank", "say what to use, or `deprecated=True`")
    if len(utf8(warning)) > limits.DEPRECATION_WARNING:
        problem = f"the deprecation warning has {len(utf8(warning))} bytes"
        raise SchemaError(at, problem, f"the API server takes {limits.DEPRECATION_WARNING}: shorten it")
    if not warning.isprintable():
        bad = next(character for character in warning if not character.isprintable())
        raise SchemaError(at, f"the deprecation warning holds {bad!r}", "use printable characters, on one line")


def _check_metadata(resource: CustomResource, kind: str) -> None:
    of_definition = annotations(resource)
    for word, names in (("a label", resource.labels), ("an annotation", of_definition)):
        for name in names:
            if not is_key(name if word == "a label" else name.lower()):
                raise SchemaError(kind, f"{name!r} is no name of {word}", "write it as `example.com/name`")
    for name, value in resource.labels.items():
        if not is_label_value(value):
            fix = "use up to 63 letters, digits, and `- _ .` between them"
            raise SchemaError(kind, f"{value!r} is no value of the label {name}", fix)
    count = sum(len(utf8(name)) + len(utf8(value)) for name, value in of_definition.items())
    if count > limits.ANNOTATIONS:
        fix = f"the API server takes {limits.ANNOTATIONS}"
        raise SchemaError(kind, f"the annotations have {count} bytes", fix)
