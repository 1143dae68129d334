"""Rules with reserved words as names of fields, plain and escaped, and patterns in all functions with patterns."""

from collections.abc import Iterator
from typing import Any

from crdgen.escaping import RESERVED
from tests.differential.crds.definitions import Definition, bare

_SHORT = {"type": "string", "maxLength": 10}
_NUMBERS = {"type": "array", "maxItems": 5, "items": {"type": "integer"}}

_OF_TEXTS = (
    "self.{} == 'x'",
    "self.__{}__ == 'x'",
    "has(self.{})",
    "self.{}.matches('^a+$')",
    "self.?{}.orValue('') == ''",
    "self.{} == oldSelf.{}",
    "self.{}.startsWith('a')",
    "self.{}.contains('a')",
    "self.{} + 'a' == 'b'",
)
_OF_PATTERNS = (
    "self.x.find('[0-9') == ''",
    "self.x.find('[0-9]') == ''",
    "self.x.find('(?=a)') == ''",
    "self.x.find(self.x) == ''",
    r"self.x.find('\\p{Greek}') == ''",
    "self.x.findAll('[0-9').size() == 0",
    "self.x.findAll('[0-9', 2).size() == 0",
    "self.x.findAll('[0-9]', 2).size() == 0",
    "'a'.find('[') == ''",
    "'a'.matches('[')",
    "matches('a', '[')",
)


def spelled() -> Iterator[tuple[str, Definition]]:
    """Yield each rule, with a definition."""
    for word in sorted(RESERVED):
        for form in _OF_TEXTS:
            yield _ruled(form.format(word, word), {word: _SHORT})
        yield _ruled(f"self.{word}.all(x, x > 1)", {word: _NUMBERS})
    for rule in _OF_PATTERNS:
        yield _ruled(rule, {"x": _SHORT})


def _ruled(rule: str, fields: dict[str, Any]) -> tuple[str, Definition]:
    return rule, bare({"type": "object", "properties": fields, "x-kubernetes-validations": [{"rule": rule}]})
