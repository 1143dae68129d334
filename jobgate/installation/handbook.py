"""The reference page of a kind: fields from its schema, defaults and rules from the docstrings of their functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from pydantic.alias_generators import to_camel

from crdgen.docs import fields
from crdgen.docs.markdown import code, table
from jobgate.installation.definitions import definition, resource_of
from jobgate.installation.twins import Twins
from jobgate.jobs.kind import CustomKind, JobKind
from jobgate.rules.updates import UpdateRule
from webhook import Rule
from webhook.kind import ANNOTATIONS


def title(kind: CustomKind) -> str:
    """Return the name of a kind in the documentation: of jobs, its first short name, as several are named `Job`."""
    creates = isinstance(kind, JobKind) and kind.creates is not None
    short = () if creates else resource_of(kind).names.short_names
    return str(short[0]) if short else kind.kind.lower()


def page(kind: CustomKind, links: str = "") -> str:
    """Return the page of a kind as Markdown, with a paragraph of links below its description.

    Raises:
        ValueError: a default or a rule has no docstring.
    """
    version = next(version for version in definition(kind)["spec"]["versions"] if version["storage"])
    schema = version["schema"]["openAPIV3Schema"]
    about, twins = schema.get("description", ""), Twins(kind)
    parts = [
        f"# {kind.kind}",
        f"`{kind.gvk.api_version}`, `{kind.qualified_plural}`. {about}".rstrip(),
        *([links] if links else []),
        "## Fields",
        fields({"spec": schema["properties"]["spec"]}),
        *(["## Status", fields({"status": status})] if (status := schema["properties"].get("status")) else []),
        "## Defaults",
        "In addition to the defaults in the table of fields, in this order:",
        "\n".join(_default(default, twins) for default in kind.defaults) or "None.",
        "## Rules",
        "In addition to the limits in the table of fields. All violations are reported at once:",
        "\n".join(_rule(rule, twins) for rule in kind.rules) or "None.",
        *_updates(kind),
    ]
    return "\n\n".join(parts) + "\n"


def _default(function: Callable[..., Any], twins: Twins) -> str:
    name = str(getattr(function, "__name__", ""))
    whole = twins.filled.get(name)
    policy = "" if whole is None else " *By policy.*" if whole else " *In part by policy.*"
    return _line(name, " ".join((inspect.getdoc(function) or "").split())) + policy


def _rule(rule: Rule, twins: Twins) -> str:
    """Return a rule with the fields that it is about, in the names of Kubernetes."""
    fields = [code(_field(name)) for name in rule.when]
    policy = " *By policy.*" if rule.name in twins.faults else ""
    return _line(rule.name, rule.about) + (f" *About {', '.join(fields)}.*" if fields else "") + policy


def _field(name: str) -> str:
    return name if name.startswith(ANNOTATIONS) else ".".join(to_camel(step) for step in name.split("."))


def _line(name: str, about: str) -> str:
    if not about:
        raise ValueError(f"{name} has no docstring for the handbook")
    return f"- **{name.replace('_', ' ')}**: {about}"


def _updates(kind: CustomKind) -> Iterator[str]:
    rule = next((rule for rule in kind.rules if isinstance(rule, UpdateRule)), None)
    what = "job" if isinstance(kind, JobKind) else "object"
    yield f"## Changes of a stored {what}"
    if rule is None:
        yield "Every field may change, as far as the rules hold afterwards."
        return
    yield (
        f"Fields that are not listed, or below a listed field, may not change after the {what} is stored. The most "
        "specific line applies."
    )
    rows = ((code(field), when.value) for field, when in rule.table.fields.items())
    yield table(("field", "may change"), rows)
