"""Rules for fields that are pruned because they are not declared."""

from collections.abc import Iterator

from crdgen.lint.node import Node
from crdgen.lint.rule import Problem, warning
from crdgen.schema import EMBEDDED, PRESERVE


@warning("schema/pruning/algorithm.go", "type")
def object_has_fields(node: Node) -> Iterator[Problem]:
    """An object that declares no fields loses all of them; `properties: {}` declares that it has none."""
    if not _is_bare(node) or _is_metadata(node):
        return
    fix = "declare the fields, or write properties: {} for none, or x-kubernetes-preserve-unknown-fields: true"
    yield Problem("", f"{node.field or 'the object'} declares no fields, so all its fields are pruned", fix)


@warning("schema/pruning/algorithm.go", "type")
def template_keeps_its_metadata(node: Node) -> Iterator[Problem]:
    """The metadata of a template is pruned like any other object; only that of whole objects is known."""
    if _is_bare(node) and _is_metadata(node):
        fix = f"declare labels, annotations, finalizers, name and namespace, or write {PRESERVE}: true"
        yield Problem("", f"labels and annotations of {node.field} are pruned", fix)


@warning("schema/pruning/algorithm.go", "additionalProperties")
def map_of_anything_keeps_it(node: Node) -> Iterator[Problem]:
    """Objects in a map with values of any type lose all their fields."""
    if node.schema.get("additionalProperties") is True and not node.branch and not node.flag(PRESERVE):
        fix = "write x-kubernetes-preserve-unknown-fields: true in its place"
        yield Problem("additionalProperties", "objects within additionalProperties: true lose their fields", fix)


def _is_bare(node: Node) -> bool:
    return (
        not node.branch
        and not node.inside_meta
        and node.type == "object"
        and "properties" not in node.schema
        and not node.flag(PRESERVE)
        and not node.flag(EMBEDDED)
        and "additionalProperties" not in node.schema
    )


def _is_metadata(node: Node) -> bool:
    """Return whether the node is the metadata of something that looks like a template: it has a spec, too."""
    return node.name == "metadata" and node.parent is not None and "spec" in node.parent.properties


@warning("k8s.io/apimachinery, pkg/util/validation: DNS1123LabelMaxLength", "type")
def names_fit_what_is_made_of_them(node: Node) -> Iterator[Problem]:
    """Objects may have names of 253 characters; labels and hosts of pods, and Services, named after them, 63."""
    if not node.is_root:
        return
    name = node.properties.get("metadata", {}).get("properties", {}).get("name", {})
    longest = name.get("maxLength", 253)
    if longest > 63 and _makes_pods(node):
        fix = "write metadata: {type: object, properties: {name: {type: string, maxLength: 50}}}, or use a webhook"
        problem = f"names of {longest} characters are taken, and pods' labels, hosts and Services take at most 63"
        yield Problem("properties[metadata]", problem, fix)


def _makes_pods(root: Node) -> bool:
    """Return whether there is a pod template in spec."""
    pending = [child for child in root.children if child.name == "spec"]
    for node in pending:
        containers = node.properties.get("containers", {})
        if node.name == "spec" and containers.get("type") == "array" and not node.branch:
            return True
        pending.extend(node.children)
    return False
