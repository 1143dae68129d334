"""What a stored schema lacks, and where it says something else."""

from typing import Any

import pytest

from jobgate.doctor.definitions import schema_changes

SHIPPED: dict[str, Any] = {
    "type": "object",
    "description": "A job.",
    "properties": {
        "queue": {"type": "string", "maxLength": 63},
        "tasks": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
        "labels": {
            "type": "object",
            "additionalProperties": {"type": "object", "properties": {"a": {"type": "string"}}},
        },
    },
}


def stored(**changes: Any) -> dict[str, Any]:
    return {**SHIPPED, "properties": {**SHIPPED["properties"], **changes}}


OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@pytest.mark.parametrize(
    "found, lacks, differs",
    [
        (SHIPPED, [], []),
        ({**SHIPPED, "description": "Another word."}, [], []),
        ({**SHIPPED, "properties": {}}, ["queue", "tasks", "labels"], []),
        (stored(queue={"type": "string", "maxLength": 60}), [], ["queue: maxLength"]),
        (stored(queue={"type": "string"}), [], ["queue: maxLength"]),
        (stored(tasks={"type": "array", "items": {"type": "object"}}), ["tasks[].name"], []),
        (stored(tasks={"type": "array", "items": OPEN}), [], ["tasks[]: x-kubernetes-preserve-unknown-fields"]),
        (stored(labels={"type": "object", "additionalProperties": {"type": "object"}}), ["labels{}.a"], []),
        (stored(more={"type": "string"}), [], ["more: not in this version"]),
        (stored(labels={"type": "object", "additionalProperties": True}), [], ["labels: additionalProperties"]),
    ],
)
def test_a_stored_schema_against_the_shipped_one(found: dict[str, Any], lacks: list[str], differs: list[str]) -> None:
    changes = list(schema_changes(SHIPPED, found))
    assert [path for path, what in changes if not what] == lacks
    assert [f"{path}: {what}" for path, what in changes if what] == differs
