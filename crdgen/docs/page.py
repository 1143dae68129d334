"""The page of a kind from its CRD, and tables of fields."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.docs.example import example
from crdgen.docs.markdown import block, code, escape, paragraphs, table
from crdgen.docs.sections import Section, Sections
from crdgen.docs.types import LONGEST, kubernetes_type, type_of, value
from crdgen.generate.mixed import TYPE_EXCLUSIONS
from crdgen.quantities import QUANTITY_PATTERNS
from crdgen.resource.text import to_yaml
from crdgen.schema import INT_OR_STRING, VALIDATIONS
from crdgen.schema.look import children, mapping, members, named, schema_of, words

_KUBERNETES = ("apiVersion", "kind", "metadata")


def page(crd: Mapping[str, Any], comment: str = "") -> str:
    """Return the page of a kind as Markdown; the comment at its top is not rendered."""
    return pages(crd, comment=comment)[""]


def pages(crd: Mapping[str, Any], name: str = "", comment: str = "") -> dict[str, str]:
    """Return the page of a kind, by the name "", and the pages of a large kind by their files.

    Args:
        crd: the CRD.
        name: the name of the page's file, without `.md`; its other pages are in a directory of this name. If it is
            empty, all is on one page.
        comment: a comment at the top, which is not rendered.
    """
    spec = mapping(crd, "spec")
    names = mapping(spec, "names")
    versions = named(spec.get("versions"))
    stored = next((version for version in versions.values() if version.get("storage") is True), {})
    parts = [f"<!-- {comment.replace('--', '- -')} -->"] if comment else []
    parts += [f"# {escape(str(names.get('kind', '')))}", *_text(schema_of(stored)), _identity(crd, spec, names)]
    if len(versions) != 1 or any(version.get("deprecated") for version in versions.values()):
        parts += ["## Versions", _versions(versions)]
    files: dict[str, list[str]] = {"": parts}
    for version_name, version in versions.items():
        several = len(versions) > 1
        level = "###" if several else "##"
        parts += [f"## {escape(version_name)}"] if several else []
        sections = Sections(schema_of(version), version_name, name)
        parts += _version(crd, version_name, version, level, sections)
        for section in sections:
            if section.file not in files:
                home = f"[{escape(str(names.get('kind', '')))}](../{name}.md)"
                files[section.file] = [f"# {code(section.anchor)}", f"{home}, version {code(version_name)}"]
            files[section.file] += _section(section, sections, level)
    return {file: "\n\n".join(texts) + "\n" for file, texts in files.items()}


def _section(section: Section, sections: Sections, level: str) -> Iterator[str]:
    yield f'<a id="{section.anchor}"></a>'
    yield f"{level} {code(section.paths[0], in_table=False)}"
    yield from _text(section.schema)
    if section.places:
        yield section.places
    yield table(_HEAD, _rows("", section.schema, sections, section))
    if lines := [f"- {line}" for line in rules("", section.schema, sections)]:
        yield "\n".join(lines)


def _identity(crd: Mapping[str, Any], spec: Mapping[str, Any], names: Mapping[str, Any]) -> str:
    group = spec.get("group")
    versions = ", ".join(code(f"{group}/{name}") for name in named(spec.get("versions")))
    rows = [
        ("API version", versions),
        ("resource", code(str(mapping(crd, "metadata").get("name", "")))),
        ("scope", escape(str(spec.get("scope", "")))),
        ("short names", ", ".join(map(code, words(names.get("shortNames"))))),
        ("categories", ", ".join(map(code, words(names.get("categories"))))),
    ]
    return table(("", ""), [row for row in rows if row[1]])


def _versions(versions: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        (
            code(name),
            "yes" if version.get("served") is True else "no",
            "yes" if version.get("storage") is True else "no",
            escape(str(version.get("deprecationWarning") or "yes")) if version.get("deprecated") else "no",
        )
        for name, version in versions.items()
    ]
    return table(("version", "served", "stored", "deprecated"), rows)


def _version(
    crd: Mapping[str, Any], name: str, version: Mapping[str, Any], level: str, sections: Sections
) -> Iterator[str]:
    schema = schema_of(version)
    own = {key: child for key, child in mapping(schema, "properties").items() if key not in _KUBERNETES}
    body = {key: child for key, child in schema.items() if key != "properties"} | {
        "properties": {key: child for key, child in own.items() if key != "status"}
    }
    yield f"{level} Fields"
    yield table(_HEAD, _rows("", body, sections))
    if "status" in own:
        yield f"{level} Status"
        yield table(_HEAD, _rows("status", mapping(own, "status"), sections))
    rule_lines = [f"- {line}" for line in rules("", schema, sections)]
    if rule_lines:
        yield f"{level} Rules"
        yield "\n".join(rule_lines)
    yield from _views(version, level)
    head = {
        "apiVersion": f"{mapping(crd, 'spec').get('group')}/{name}",
        "kind": mapping(crd, "spec", "names").get("kind"),
        "metadata": {"name": "example"},
    }
    document = example(head, schema)
    if document is not None:
        yield f"{level} Example"
        yield block(to_yaml(document), "yaml")


def _views(version: Mapping[str, Any], level: str) -> Iterator[str]:
    columns = named(version.get("additionalPrinterColumns"))
    if columns:
        yield f"{level} Columns"
        rows = [
            (escape(name), code(str(column.get("jsonPath", ""))), escape(str(column.get("description", ""))))
            for name, column in columns.items()
        ]
        yield table(("column", "shows", ""), rows)
    subresources = mapping(version, "subresources")
    selectable = [str(path) for path in named(version.get("selectableFields"), "jsonPath")]
    lines = []
    if "scale" in subresources:
        lines.append(f"- scaled by {code(str(mapping(subresources, 'scale').get('specReplicasPath', '')))}")
    if selectable:
        lines.append(f"- field selectors: {', '.join(map(code, selectable))}")
    if lines:
        yield f"{level} Also"
        yield "\n".join(lines)


def _text(schema: Mapping[str, Any]) -> Iterator[str]:
    text = schema.get("description")
    if isinstance(text, str):
        yield from paragraphs(text)


_HEAD: Final = ("field", "type", "default", "")


def fields(schemas: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a table of all fields in the schemas, given by path.

    Fields of pod templates and volumes are left out: Kubernetes documents them.
    """
    return table(_HEAD, [row for path, schema in schemas.items() for row in _rows(path, schema, Sections({}))])


def _rows(
    path: str, schema: Mapping[str, Any], sections: Sections, inside: Section | None = None
) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for each field below a schema. A field with a section of its own has a link to it."""
    if kubernetes_type(schema):
        return
    required = members(schema.get("required"))
    properties = mapping(schema, "properties")
    for name in properties:
        field, field_path = mapping(properties, name), f"{path}.{name}".lstrip(".")
        default = value(field["default"]) if "default" in field else "required" if name in required else ""
        section = sections.of(field)
        link = f" See {_link(section, inside)}." if section else ""
        yield code(field_path), type_of(field), default, f"{_description(field)}{link}".strip()
        if section is None:
            yield from _rows(field_path, field, sections, inside)
    for key, step in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(key), Mapping):
            yield from _rows(f"{path}{step}", schema[key], sections, inside)


def _link(section: Section, inside: Section | None) -> str:
    """Return a link to a section from the page of another section, or from the page of the kind."""
    here = inside.file if inside else ""
    file = "" if section.file == here else section.file.rpartition("/")[2] if here else section.file
    return f"[{code(section.paths[0])}]({file}#{section.anchor})"


def _description(schema: Mapping[str, Any]) -> str:
    text = schema.get("description")
    parts = [re.sub("\n+", "<br>", "\n".join(paragraphs(text)))] if isinstance(text, str) and text.strip() else []
    if "example" in schema:
        parts.append(f"Example: {value(schema['example'])}.")
    while inner := mapping(schema, "items") or mapping(schema, "additionalProperties"):
        schema = inner
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and pattern not in QUANTITY_PATTERNS and len(pattern) > LONGEST:
        parts.append(f"The pattern is {code(pattern)}.")
    return " ".join(parts)


_ALTERNATIVES: Final = {"oneOf": "exactly one of", "anyOf": "at least one of", "allOf": "all of"}


def rules(path: str, schema: Mapping[str, Any], sections: Sections | None = None) -> Iterator[str]:
    """Yield a line of Markdown for each rule of a field and of the fields below it, except those in `sections`."""
    if kubernetes_type(schema):
        return
    place = code(path) or "the object"
    for text, rule in named(schema.get(VALIDATIONS), "rule").items():
        message = rule.get("message")
        if isinstance(message, str) and message:
            yield f"{place}: {escape(message)} ({code(text, in_table=False)})"
        else:
            yield f"{place}: {code(text, in_table=False)}"
    for line in _branches(schema):
        yield f"{place}: {line}"
    for step, child in children(schema):
        if not (sections and "properties" in child and sections.of(child)):
            yield from rules(f"{path}{step}".lstrip("."), child, sections)


def _branches(schema: Mapping[str, Any]) -> Iterator[str]:
    for keyword, phrase in _ALTERNATIVES.items():
        branches = [branch for branch in members(schema.get(keyword)) if branch not in TYPE_EXCLUSIONS.values()]
        if branches and schema.get(INT_OR_STRING) is not True:
            yield f"{phrase} {', '.join(map(_branch, branches))}"
    if mapping(schema, "not") and schema["not"] != TYPE_EXCLUSIONS["boolean"]["not"]:
        yield f"not {_branch(schema['not'])}"


def _branch(branch: Any) -> str:
    names = members(mapping(branch).get("required"))
    if names and mapping(branch).keys() == {"required"}:
        return " with ".join(code(str(name)) for name in names)
    return value(branch)
