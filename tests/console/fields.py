"""Compares the answers that the page's tests give with those of the console."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ANSWERS = Path(__file__).parent / "page" / "answers"
#: Objects whose fields are names of others.
_MAPS = (".pods", ".rules", ".conditions")
_ONE = {"reviews": "review", "jobs": "job"}


def check(address: str, answer: Any) -> None:
    """Fail if an answer of the console has other fields than that of the page's tests."""
    _, _, name, *rest = urlsplit(address).path.split("/")
    file = ANSWERS / f"{_ONE.get(name, '') if rest else name}.json"
    if file.exists():
        others = list(differences(json.loads(file.read_text(encoding="utf-8")), answer, name))
        assert not others, f"other than in tests/console/page/answers: {others}"


def differences(known: Any, answer: Any, place: str) -> Iterator[str]:
    """Yield the fields that only one of two answers has, and those whose values have other types."""
    if isinstance(known, list) and isinstance(answer, list):
        yield from differences(_merged(known), _merged(answer), f"{place}[]")
    elif isinstance(known, dict) and isinstance(answer, dict):
        if not place.removesuffix("[]").endswith(_MAPS):
            yield from (f"{place}.{field}" for field in known.keys() ^ answer.keys())
        for field in known.keys() & answer.keys():
            yield from differences(known[field], answer[field], f"{place}.{field}")
    elif None not in (known, answer) and _type(known) != _type(answer):
        yield f"{place}: {_type(known)}, {_type(answer)}"


def _merged(items: list[Any]) -> Any:
    """One item with all fields of some; None if there is none."""
    if not all(isinstance(item, dict) for item in items):
        return items[0] if items else None
    fields = {field for item in items for field in item}
    return {field: next((item[field] for item in items if item.get(field)), None) for field in fields} or None


def _type(value: Any) -> str:
    return "number" if type(value) in (int, float) else type(value).__name__
