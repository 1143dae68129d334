"""Rules whose cost is estimated: each is evaluated as often as the linter allows without a warning."""

from collections.abc import Iterator
from typing import Any

from bench.differential.crds.definitions import Definition, bare
from crdgen.cel import compiled
from crdgen.cel.cost import LIMIT, estimate

_TEXT = {"type": "string", "maxLength": 20}


def _list(items: dict[str, Any], most: int | None = 7) -> dict[str, Any]:
    return {"type": "array", "items": items} | ({} if most is None else {"maxItems": most})


def _map(values: dict[str, Any], most: int | None = 6) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values} | ({} if most is None else {"maxProperties": most})


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_PORT = _object(name=_TEXT, number={"type": "integer"}, notes=_list({"type": "string", "maxLength": 3}, 3))
_RULE = _object(
    name=_TEXT, port=_TEXT, ports=_list(_PORT, 5), tags=_list(_TEXT, 4), long={"type": "string", "maxLength": 900}
)

#: A value with a bit of everything, small and without bounds.
SELF: dict[str, Any] = _object(
    text=_TEXT,
    other={"type": "string", "maxLength": 33},
    long={"type": "string"},
    word={"type": "string", "enum": ["one", "three"]},
    raw={"type": "string", "format": "byte", "maxLength": 50},
    endless={"type": "string", "format": "byte"},
    when={"type": "string", "format": "date-time"},
    day={"type": "string", "format": "date"},
    lasts={"type": "string", "format": "duration"},
    mail={"type": "string", "format": "email"},
    count={"type": "integer"},
    ratio={"type": "number"},
    flag={"type": "boolean"},
    size={"x-kubernetes-int-or-string": True},
    short={"x-kubernetes-int-or-string": True, "maxLength": 9},
    words=_list(_TEXT),
    longs=_list({"type": "string"}, 3),
    numbers=_list({"type": "integer"}, 40),
    many=_list({"type": "string"}, None),
    table=_list(_list({"type": "integer"}, 3), 4),
    labels=_map(_TEXT),
    any=_map({"type": "integer"}, None),
    groups=_map(_list(_TEXT, 3), 5),
    rules=_list(_RULE, 8),
    deep=_object(a=_object(b=_list(_RULE, 2), c=_TEXT), text={"type": "string"}),
    parts=_list({**_object(name=_TEXT, id={"type": "integer"}), "required": ["name", "id"]}, None),
    bare={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    pod={"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
)
SELF["properties"]["a-b"] = _TEXT

#: Rules of such a value.
# Without those that the API server overestimates: docs/reference/crdgen-fidelity.md.
RULES = (
    "self == oldSelf",
    "self.text == oldSelf.text && self.long == oldSelf.long",
    "self.text == 'a' || self.long != 'abcdefghijklmnop'",
    "self.count > 1 && self.ratio < 2.0 && self.flag == true",
    "self.count + 1 > 2 * self.count - 1 && -self.count != 3",
    "self.text < self.other && self.long >= self.text",
    "has(self.text) && has(self.deep.a.c)",
    "!has(self.text) || self.text.size() > 3",
    "size(self.long) < 10",
    "self.text in ['a', 'b', 'c']",
    "'a' in self.words",
    "'a' in self.many",
    "'a' in self.labels && 'b' in self.groups",
    "self.text.startsWith('abc') && self.long.endsWith(self.text)",
    "self.long.contains('abcdefghijk') && self.text.contains(self.other)",
    "self.text.matches('^[a-z]+([a-z]*)$')",
    "self.long.matches('^[a-z]+$')",
    "matches(self.long, '^[a-z]+$')",
    "self.text.find('[a-z]+') == 'a'",
    "self.text.findAll('[a-z]+').size() > 1",
    "self.text.findAll('[a-z]', 2).all(x, x == 'a')",
    "self.text.lowerAscii() == 'a' && self.text.upperAscii().startsWith('A')",
    "self.text.replace('a', 'bcd') == 'a'",
    "self.text.replace('', 'bcd') == self.long",
    "self.text.replace('abc', 'd', 2).contains('abcdefghijklmnop')",
    "self.text.split(',').all(x, x == 'a')",
    "self.text.split(',', 3).all(x, x.startsWith('a'))",
    "self.long.split(',', 3).exists(x, x == 'a')",
    "self.words.join(',') == self.long",
    "self.words.join() == 'a' && self.longs.join('-').size() > 3",
    "self.text.substring(1) == 'a' && self.text.substring(1, 3).matches('[a-z]{4}')",
    "self.text.trim().contains('abcdefghijkl') && self.text.charAt(1) == 'a'",
    "self.text.indexOf('a') > 1 && self.text.lastIndexOf('a', 3) > 2",
    "self.words.indexOf('a') > 1 && self.numbers.lastIndexOf(3) == 2",
    "self.words.isSorted() && self.numbers.isSorted() && self.words.min() < self.words.max()",
    "self.numbers.sum() > 3",
    "self.text + self.other == self.long",
    "(self.text + self.long).matches('abcd')",
    "self.words + self.words == self.longs",
    "(self.words + ['a']).all(x, x == self.text)",
    "self.words.all(x, x == 'a')",
    "self.words.all(x, x.matches('^[a-z]+([a-z]*)$'))",
    "self.longs.exists(x, x == self.text)",
    "self.many.all(x, x == 'a')",
    "self.any.all(k, self.any[k] > 3)",
    "self.labels.all(k, k == self.labels[k] && k.matches('^[a-z]+([a-z]*)$'))",
    "self.labels.all(k, v, k == v)",
    "self.words.all(i, w, i > 3 || w == 'a')",
    "self.words.exists_one(x, x == self.text)",
    "self.words.existsOne(i, x, x == self.text && i > 0)",
    "self.words.map(x, x.size()).sum() > 3",
    "self.words.map(x, x + 'b').all(x, x == 'ab')",
    "self.words.filter(x, x.startsWith('a')).all(x, x == self.other)",
    "self.words.map(x, x == 'a', x + self.text).exists(x, x.contains('abcdefghijklmnopq'))",
    "self.words.transformList(i, v, v + 'a').all(x, x == 'a')",
    "self.labels.transformMap(k, v, v + 'a').all(k, k == 'a')",
    "self.rules.all(r, r.name == r.port)",
    "self.rules.all(r, r.long == 'abcde' && r.ports.exists(p, p.number > 3))",
    "self.rules.all(r, self.rules.exists(q, q.name == r.name && q != r))",
    "self.rules.map(r, r.name).all(n, n.matches('^[a-z]+([a-z]*)$'))",
    "self.rules.map(r, r.ports).all(p, p.all(q, q.number > 1))",
    "self.rules.filter(r, r.ports.size() > 1).all(r, r.ports.all(p, p.name == 'a'))",
    "self.rules.map(r, r.ports.map(p, p.name)).all(x, x.all(y, y == 'a'))",
    "self.rules.filter(r, r.ports.exists(p, p.name == r.port)).all(r, r.tags.all(t, t == r.name))",
    "self.table.all(row, row.all(n, n > row[0]))",
    "self.rules[0].ports[1].name == self.long",
    "self.deep.a.b.all(r, r.tags.all(t, t == self.deep.a.c))",
    "self.deep.text.startsWith(self.text)",
    "self.table.all(row, row.all(n, n > 0))",
    "self.table.map(row, row.sum()).sum() > 3",
    "self.table[0][1] == 3",
    "self.groups.all(k, self.groups[k].all(x, x == k))",
    "self.groups['a'].all(x, x.matches('^[a-z]+([a-z]*)$'))",
    "self.groups.a.exists(x, x == 'a')",
    "self.labels['a'].startsWith('a') && self.labels.a == 'b'",
    "self.labels.a.matches('abcdefgh')",
    "self.parts.all(p, p.id > 0)",
    "self.size == 'abcdefghijkl' && self.short == self.text",
    "type(self.size) == int ? self.size > 3 : self.size.matches('^[0-9]+%$')",
    "type(self.short) == string && string(self.short).startsWith('abc')",
    "bytes(self.size) == self.raw && self.words[0] < dyn(self.other)",
    "cidr(self.text).containsIP(dyn(self.other))",
    "self.size in ['a'] && self.short in self.longs && self.words.exists(w, w == self.short)",
    "self.size + self.short == self.text",
    "self.table.exists(row, row.exists(n, n == self.count) && row.isSorted() && row.map(n, string(n)).join() == 'a')",
    "self.groups.all(k, g, g.all(i, x, x == k && x.matches('^[a-z]+([a-z]*)$')))",
    "self.groups.transformMapEntry(k, g, {g[0]: g}).all(k, k.size() > 1)",
    "string(self.count) == self.text",
    "string(self.count).matches('abc')",
    "int(self.text) > 3 && double(self.text) < 2.0 && bool('true')",
    "bytes(self.text) == b'abcdefghijklmnopqrs' && string(bytes(self.text)) == self.text",
    "self.raw == b'abcdefghijklmnopqrstuvw' && string(self.raw) == self.long",
    "self.endless == oldSelf.endless",
    "self.raw.size() > 3",
    "self.when > timestamp('2026-01-01T00:00:00Z') && self.when.getFullYear() > 3",
    "self.lasts > duration('1h') && self.lasts == oldSelf.lasts && self.when == self.day",
    "duration(self.long) > duration('1s')",
    "self.word == oldSelf.word && self.mail == self.word",
    "self.?text.orValue('a') == 'abcdefghijklmnop'",
    "self.?words.orValue([]).size() > 3",
    "self.?words.orValue([]).all(x, x == 'a')",
    "self.?deep.?a.?c.hasValue() && self.?deep.text.value() == 'a'",
    "self.?text.optMap(v, v.size()).orValue(1) > 3",
    "self.?text.optMap(v, v + 'abc').value() == self.text",
    "self.?words.optFlatMap(v, v[?0]).orValue('') == self.text",
    "optional.of(self.text).or(optional.none()).value() == self.long",
    "self.labels[?'a'].orValue('b').startsWith('cdefghijklm')",
    "[self.text, self.long].all(x, x == 'abc')",
    "[self.text, self.other].exists(x, x.matches('^[a-z]+([a-z]*)$'))",
    "[1, 2, 3].all(x, x > self.count)",
    "{'a': self.text, 'b': self.other}.all(k, k == self.text)",
    "{'a': self.text}['a'] == self.long",
    "[self.text][0].matches('abcd')",
    "(self.flag ? self.text : self.other).matches('^[a-z]+([a-z]*)$')",
    "(self.flag ? self.words : self.longs).all(x, x == self.text)",
    "(self.flag ? [self.text] : [self.other]).all(x, x == self.long)",
    "dyn(self.text) == self.long && dyn(self.count) > 1",
    "quantity(self.text) == quantity('1Gi') && isQuantity(self.other)",
    "quantity(self.text) != quantity('1Gi')",
    "quantity(self.long).add(quantity('1')).isGreaterThan(quantity(self.text)) && sign(quantity('1')) == 1",
    "semver(self.text) == semver('1.2.3') && semver(self.text).major() > 1 && isSemver(self.other, true)",
    "url(self.text) == url(self.long) && isURL(self.text)",
    "url(self.text).getHost() == 'abcdefghijklmnop' && url(self.text).getQuery().size() > 1",
    "ip(self.text) == ip(self.other) && isIP(self.long) && ip.isCanonical(self.text) && ip(self.text).family() == 4",
    "cidr(self.text).containsIP(self.other) && cidr(self.text).containsIP(ip(self.text))",
    "cidr(self.text).containsCIDR(self.other) && cidr(self.text).containsCIDR(cidr(self.text)) && isCIDR(self.text)",
    "cidr(self.text).ip() == ip(self.text) && cidr(self.text).masked() == cidr(self.text) && string(ip(self.text)) == 'a'",
    "cidr(self.text).prefixLength() > 3",
    "!format.dns1123Label().validate(self.text).hasValue()",
    "format.named(self.text).value().validate(self.long).orValue([]).size() > 1",
    "format.dns1123Label() == format.named('uri').value()",
    "sets.contains(self.words, ['a', 'b']) && sets.intersects(self.words, self.longs)",
    "sets.equivalent(self.words, self.longs) && sets.contains(self.numbers, self.numbers)",
    "self.words.distinct().size() == 1 && self.words.sort() == self.words",
    "self.numbers.sort()[0] > 1 && self.words.sortBy(x, x.size())[0] == 'abcdefghijklmnopqrst'",
    "self.rules.sortBy(r, r.name).map(r, r.name).all(n, n == self.long)",
    "self.words.slice(1, 3).all(x, x == 'a') && self.words.reverse().exists(x, x == 'a')",
    "self.table.flatten().all(x, x > 1) && self.table.flatten(2).size() > 3",
    "lists.range(30).all(x, x > 3)",
    "'%s and %d'.format([self.text, self.count]) == self.long",
    "strings.quote(self.text) == self.long && strings.quote(self.text).matches('abcd')",
    "self.a__dash__b == self.long",
    "self.pod.metadata.name == 'abc' && self.pod.kind.startsWith('a')",
    "self.pod.metadata.name.matches('^[a-z]+$')",
    "self.deep == oldSelf.deep && self.rules == oldSelf.rules && self.labels == oldSelf.labels",
    "self.many == oldSelf.many",
    "uint(self.count) > 3u && self.count / 2 == 1 && self.count % 2 == 0",
)


#: How often the linter lets a rule be evaluated without a warning: a tenth of the limit.
_QUIET = LIMIT // 10 - 1


def definitions() -> Iterator[tuple[str, Definition]]:
    """Yield definitions, by name, of which the linter just does not warn: the API server takes all of them."""
    for rule in RULES:
        if times := _QUIET // _cost(rule, SELF):
            yield f"{rule}, {times} times", bare(_object(values=_map(SELF | _rule(rule), times)))
    for length in (100, 1_000_000):
        schema = {"type": "string", "maxLength": length} | _rule("true", messageExpression="self + self")
        yield f"a message of twice {length}", bare(_object(a=_map(schema, 100)))


def _cost(rule: str, schema: dict[str, Any]) -> int:
    found = compiled(rule, schema)
    return estimate(found.tree, found.types, found.self_type).cost


def _rule(rule: str, **more: str) -> dict[str, Any]:
    return {"x-kubernetes-validations": [{"rule": rule, "message": "no"} | more]}
