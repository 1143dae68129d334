"""Texts that YAML readers read differently, by the name of the case."""

_HEAD = "apiVersion: v1\nkind: ConfigMap\n"

# Values of a field. Each is the name of its case.
_VALUES = r"""
y Y n N yes Yes YES yEs no No NO on On ON off Off OFF true True TRUE tRUE false ~ null Null NULL nULL 0 1 -1
+1 -0 0o14 0O14 014 -014 08 09.5 0x1F 0X1f -0x1F +0x1F 0xG 0b1 0B1 -0b11 0b2 0b-1 0b+1 0b 0o8 00 0_1 1_000 _1
1_ +_1 1__0 0x_1F 1e3 1E3 1e+3 1e-3 1e 1.0 1. .5 +.5 -.5 . .e1 .5e3 .5_0 1_0.5 0.1 -0.0 1e20 1e21 1e22 1e400
-1e400 1e-400 1.5e-7 123456789.125 9007199254740993 9223372036854775807 9223372036854775808
-9223372036854775808 -9223372036854775809 18446744073709551615 18446744073709551616 +9223372036854775808
123456789012345678901234567890 0xFFFFFFFFFFFFFFFF 0x1FFFFFFFFFFFFFFFF 0777777777777777777777777 0x1p3 12:30
1:2:3.5 2026-01-01 2026-13-01 2026-01-01T00:00:00Z = << <<x .inf +.inf -.inf .Inf .iNF .nan .NaN inf nan - +
-- +- -x 1,000 1.2.3 v1 'y' "1" "" '' |x\ &a !<x> !!str !!str\ 12 !!str\ ~ !!int\ "12" !!int\ x !!int\ 1.0
!!int\ 2026-01-01 !!float\ 1 !!float\ 0x10 !!float\ x !!float\ 18446744073709551615 !!bool\ yes !!bool\ 1
!!bool\ "y" !!null\ x !!null\ "" !!null !!timestamp\ 2026-01-01 !!timestamp\ "2026-01-01"
!!timestamp\ 2026-1-1t1:2:3.5+01:00 !!timestamp\ 2026-02-30 !!timestamp\ x !!timestamp\ 12 !!binary\ aGk=
!!binary\ aGk !!binary\ /w== !!binary\ "!" !!merge\ x !!foo\ 12 !foo\ 12 !\ 12 !\ "12" !!set\ {a} !!map\ [a]
!!seq\ {a:\ 1} {a:b} {a:\ b} {a:1,b:2} {a,b} {"a":1} {'a':'b'} [a:b] [a:\ b] [a,,b] [a,] [,a] [] {} [a,\ b]
{a:\ ,b:} {?\ a:\ b} {http://x:\ y} [http://x:80] [?a] {a:\ [b,c],} ?a ?\ a -a :a a:b a\ :b a\ #c a#c #c @a `a
%a a%b *a &b\ 1 "a\x41\u00e9\U0001F600" "\ud800" "\q" "\/" "\e" "a
"""

# Fields that follow the head of an object.
_BODIES = {
    "a digit beyond ASCII": "a: \u0661\n",
    "integers as keys": "1: a\n0x10: b\n-0: c\n",
    "an unsigned integer as a key": "18446744073709551615: a\n",
    "booleans as keys": "y: a\nno: b\ntrue: c\n",
    "null as a key": "~: a\n",
    "nothing as a key": ": a\n",
    "floats as keys": "1.5: a\n1e3: b\n1e6: c\n123456.0: d\n1234567.5: e\n0.0001: f\n0.00001: g\n1677721.0: h\n",
    "unusual floats as keys": ".inf: a\n-.inf: b\n.nan: c\n1e-300: f\n-0.0: g\n08: h\n",
    "keys beyond 32-bit floats": "1e300: d\n-1e300: e\n",
    "dates as keys": "2026-01-01: a\n12:30: b\n",
    "binary as a key": "!!binary aGk=: a\n",
    "a list as a key": "[a]: b\n",
    "a mapping as a key": "{{ a }}: b\n",
    "a template as a value": "a: {{ b }}\n",
    "a complex key": "? a\n: b\n",
    "a complex list key": "? - a\n: b\n",
    "a key twice": "a: 1\na: 2\n",
    "a mapping twice": "a: {b: 1, c: 2}\na: {b: 3}\n",
    "an integer twice": "1: a\n0x1: b\n",
    "aliases": "a: &x {b: 1}\nc: *x\nd: [*x, *x]\n",
    "an alias as a key": "a: &x b\n*x : c\n",
    "an alias as a list key": "a: &x [b]\n*x : c\n",
    "an anchor given twice": "a: &x 1\nb: *x\nc: &x 2\nd: *x\n",
    "an unknown alias": "a: *x\n",
    "an alias before its anchor": "a: *x\nb: &x 1\n",
    "an alias in itself": "a: &x {b: *x}\n",
    "an anchored null": "a: &x\nb: *x\n",
    "an anchor with unusual characters": "a: &x.y 1\nb: *x.y\n",
    "an anchor with a dash": "a: &x-y_1 1\nb: *x-y_1\n",
    "a merge": "a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\n",
    "a merge after a key": "a: &x {b: 1, c: 2}\nd: {c: 3, <<: *x}\n",
    "a merge of a list": "a: &x {b: 1, c: 2}\ne: &y {b: 5, f: 6}\nd: {<<: [*x, *y], c: 3}\n",
    "a merge of a mapping": "d: {<<: {a: 1}, b: 2}\n",
    "a merge of merges": "a: &x {b: 1}\ne: &y {<<: *x, c: 1}\nd: {<<: *y}\n",
    "a merge of itself": "a: &x\n  <<: *x\n",
    "a merge of a scalar": "d: {<<: 1}\n",
    "a merge of null": "d: {<<: }\n",
    "a merge of a list's alias": "a: &x [{b: 1}]\nd: {<<: *x}\n",
    "a merge of a list with a scalar": "d: {<<: [{a: 1}, b]}\n",
    "a merge key quoted": 'd: {"<<": {a: 1}}\n',
    "a merge key tagged": "d: {!!merge <<: {a: 1}}\n",
    "a merge key tagged a string": "d: {!!str <<: {a: 1}}\n",
    "two merges": "d: {<<: {a: 1}, <<: {b: 2}}\n",
    "a literal block": "a: |\n  b\n   c\n\n  d\n",
    "block indicators": "a: |-\n  b\n\nc: >+\n  d\n  e\n\nf: |2\n   g\n",
    "a folded block": "a: >\n  b\n  c\n\n  d\n   e\n",
    "a document separator in a block": "a: |\n---\nb: 1\n",
    "a tab as indentation": "a:\n\tb: 1\n",
    "a tab before a value": "a:\tb\n",
    "a tab after a value": "a: b\t\nc: d\t# e\n",
    "a tab in a block": "a: |\n  b\tc\n\td\n",
    "a tab in a flow": "a: {\tb: 1,\n\tc: 2}\n",
    "a tab after a dash": "a:\n-\tb\n",
    "carriage returns": "a: |\r\n  b\r\n  c\r\nd: e\r\n",
    "a lone carriage return": "a: b\rc: d\n",
    "next lines": "a: b\x85c: d\n",
    "line separators": "a: 'b\u2028c'\n",
    "a delete character": "a: b\x7f\n",
    "a control character": "a: b\x01\n",
    "a byte order mark inside": "a: b\ufeffc\n",
    "an emoji": "a: 😀\n😀: b\n",
    "words beyond ASCII": "ключ: значение\n",
    "two values": "a: b: c\n",
    "bad indentation": "a: 1\n  b: 2\n",
    "less indentation": "a:\n    b: 1\n  c: 2\n",
    "a list not indented": "a:\n- b\n- c\n",
    "a list after a key": "a: - b\n",
    "a list in a list": "a:\n- - b\n  - c\n-\n  - d\n",
    "a mapping without a value": "a\nb: c\n",
    "an open quote": "a: 'b\n",
    "an open flow": "a: [b\n",
    "a folded plain": "a: b\n  c\n\n  d\n",
    "a folded quote": 'a: "b\n  c\\\n  d\n\n  e"\n',
    "text after a quote": "a: 'b' c\n",
    "a comment after a quote": "a: 'b'#c\n",
    "a comment between": "a:\n# b\n  - c\n  # d\n  - e\n",
    "a long key": "a" * 1100 + ": b\n",
    "a long quoted key": '"' + "a" * 1100 + '": b\n',
    "a long key that is none": "? " + "a" * 1100 + "\n: b\n",
    "a key on two lines": "'a\n  b': c\n",
    "a colon in a value": "a: b:c\nd: http://e:80/f\n",
    "a hash in a value": "a: b#c\n",
    "flow over lines": "a: [b,\n  c,\n  {d: e,\n   f}]\n",
    "flow not indented": "a: [\nb\n]\n",
    "a value on the next line": "a:\n  b\n",
    "a tag on the next line": "a: !!str\n  12\n",
    "a tag and an anchor": "a: !!str &x 12\nb: &y !!str 12\n",
    "a verbatim tag": "a: !<tag:yaml.org,2002:str> 12\n",
    "an unknown tag handle": "a: !e!f 12\n",
    "text after the end": "a: 1\n...\nb: 2\n",
    "a broken text after the end": "a: 1\n...\n}{\n",
    "a document after the end": "a: 1\n...\n---\n" + _HEAD + "b: 2\n",
}

# Whole streams.
_STREAMS: dict[str, str | bytes] = {
    "nothing": "",
    "a new line": "\n",
    "a comment": "# nothing\n",
    "a separator": "---\n",
    "separators": "---\n---\n# c\n---\n",
    "a separator without an end": "---",
    "no new line at the end": _HEAD + "a: 1",
    "two documents": _HEAD + "---\n" + _HEAD,
    "documents with comments": "# a\n---\n# b\n" + _HEAD + "--- # c\n# d\n---\n\n---\n" + _HEAD,
    "a document after a separator": "--- {apiVersion: v1, kind: A}\n",
    "a separator of four": "----\n" + _HEAD,
    "a separator with a word": "---a\n" + _HEAD,
    "a separator with spaces": "---  \t\n" + _HEAD + "---\r\n" + _HEAD,
    "an indented separator": _HEAD + "a: b\n ---\n",
    "a null document": "null\n---\n" + _HEAD + "---\n~\n",
    "a byte order mark": "\ufeff" + _HEAD,
    "a byte order mark and a separator": "\ufeff---\n" + _HEAD,
    "a byte order mark and JSON": '\ufeff{"apiVersion": "v1", "kind": "A"}',
    "a byte order mark in the second document": _HEAD + "---\n\ufeff" + _HEAD,
    "UTF-16": ("\ufeff" + _HEAD).encode("utf-16-le"),
    "UTF-16, big-endian": ("\ufeff" + _HEAD).encode("utf-16-be"),
    "UTF-16 without a new line": ("\ufeff" + _HEAD + "a: b").encode("utf-16-be"),
    "no UTF-8": _HEAD.encode() + b"a: \xff\n",
    "no UTF-8 in a comment": _HEAD.encode() + b"# \xff\n",
    "a surrogate": _HEAD.encode() + b"a: \xed\xa0\x80\n",
    "a zero byte": _HEAD.encode() + b"a: \x00\n",
    "a YAML directive": "%YAML 1.1\n---\n" + _HEAD,
    "a YAML 1.2 directive": "%YAML 1.2\n---\n" + _HEAD,
    "a YAML 2.0 directive": "%YAML 2.0\n---\n" + _HEAD,
    "a tag directive": "%TAG !e! tag:yaml.org,2002:\n---\n" + _HEAD + "a: !e!str 12\n",
    "an unknown directive": "%FOO bar\n---\n" + _HEAD,
    "an end before a separator": _HEAD + "...\n---\n" + _HEAD,
    "a list": "- a\n",
    "a scalar": "a\n",
    "an empty mapping": "{}\n",
    "no kind": "apiVersion: v1\n",
    "no apiVersion": "kind: A\n",
    "a kind that is a boolean": "apiVersion: v1\nkind: y\n",
    "an apiVersion that is a number": "apiVersion: 1\nkind: A\n",
    "an empty kind": 'apiVersion: v1\nkind: ""\n',
    "a good document before a bad one": _HEAD + "---\na: [\n",
    "List": "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n- apiVersion: v1\n  kind: B\n",
    "an empty List": "apiVersion: v1\nkind: List\nitems: []\n",
    "a List of nothing": "apiVersion: v1\nkind: List\nitems:\n",
    "a List without items": "apiVersion: v1\nkind: List\n",
    "a List with null": "apiVersion: v1\nkind: List\nitems: [null]\n",
    "a List with a scalar": "apiVersion: v1\nkind: List\nitems: [a]\n",
    "a List with a mapping for items": "apiVersion: v1\nkind: List\nitems: {a: b}\n",
    "a List with a word for items": "apiVersion: v1\nkind: List\nitems: a\n",
    "a List with items without kind": "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1}]\n",
    "a List without a kind": "apiVersion: v1\nitems: [{apiVersion: v1, kind: A}]\n",
    "a List without an apiVersion": "kind: List\nitems: [{apiVersion: v1, kind: A}]\n",
    "a PodList": "apiVersion: v1\nkind: PodList\nitems: [{metadata: {name: a}}, null, {kind: B}]\n",
    "a PodList of Pods without kind": "apiVersion: v1\nkind: PodList\nitems: [{metadata: {name: a}}]\n",
    "a PodList with null": "apiVersion: v1\nkind: PodList\nitems: [null]\n",
    "a kind with items": "apiVersion: v1\nkind: Foo\nitems: [{apiVersion: v1, kind: A}, {metadata: {name: b}}]\n",
    "a List in a List": (
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items: [{apiVersion: v1, kind: A}]\n"
        "- {apiVersion: v1, kind: B}\n"
    ),
    "a PodList in a List": "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: PodList, items: [{a: b}]}]\n",
    "items that are no list in a List": "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: A, items: b}]\n",
    "a List twice": "apiVersion: v1\nkind: List\nitems: []\nitems: [{apiVersion: v1, kind: A}]\n",
    "JSON": '{"apiVersion": "v1", "kind": "A", "a": [1, 1.0, 1e3, true, null, "\\u00e9"]}',
    "JSON numbers": (
        '{"apiVersion": "v1", "kind": "A", "a": [0, -0, -0.0, 0.1, 1E2, 9007199254740993, 9223372036854775807,'
        " 9223372036854775808, 18446744073709551615, 123456789012345678901234567890, 1e21, 1e-7]}"
    ),
    "JSON with a number too large": '{"apiVersion": "v1", "kind": "A", "a": 1e400}',
    "JSON with a leading zero": '{"apiVersion": "v1", "kind": "A", "a": 014}',
    "JSON with NaN": '{"apiVersion": "v1", "kind": "A", "a": NaN}',
    "JSON with a key twice": '{"apiVersion": "v1", "kind": "A", "a": {"b": 1, "c": 2}, "a": {"b": 3}}',
    "JSON with a comma at the end": '{"apiVersion": "v1", "kind": "A",}',
    "JSON with a comment": '{"apiVersion": "v1", # b\n "kind": "A"}',
    "JSON with tabs": '{\n\t"apiVersion": "v1",\n\t"kind": "A"\n}\n',
    "JSON with single quotes": "{'apiVersion': 'v1', 'kind': 'A'}",
    "JSON with a control character": '{"apiVersion": "v1", "kind": "A", "a": "b\nc"}',
    "JSON with surrogates": '{"apiVersion": "v1", "kind": "A", "a": "\\ud83d\\ude00 \\ud800 \\udc00x"}',
    "JSON with bad UTF-8": b'{"apiVersion": "v1", "kind": "A", "a": "\xff \xe2\x82 \xed\xa0\x80"}',
    "JSON with a solidus": '{"apiVersion": "v1", "kind": "A", "a": "\\/"}',
    "JSON that is open": '{"apiVersion": "v1", "kind": "A"',
    "JSON documents": '{"apiVersion": "v1", "kind": "A"}' * 3 + '\n{"apiVersion": "v1", "kind": "B"}\n',
    "JSON and a comma": '{"apiVersion": "v1", "kind": "A"},{"apiVersion": "v1", "kind": "B"}',
    "JSON documents and separators": '{"apiVersion": "v1", "kind": "A"}\n---\n{"apiVersion": "v1", "kind": "B"}\n---\n',
    "JSON and YAML": '{"apiVersion": "v1", "kind": "A"}\n---\n' + _HEAD,
    "JSON and YAML without a separator": '{"apiVersion": "v1", "kind": "A"}\n' + _HEAD,
    "two of JSON and YAML": '{"apiVersion": "v1", "kind": "A"}{"apiVersion": "v1", "kind": "B"}\n---\n' + _HEAD,
    "JSON and a word": '{"apiVersion": "v1", "kind": "A"} b',
    "JSON and a long word": '{"apiVersion": "v1", "kind": "A"} bcdef',
    "JSON and a comment": '{"apiVersion": "v1", "kind": "A"}\n# b\n',
    "JSON and a short comment": '{"apiVersion": "v1", "kind": "A"}\n#b',
    "JSON and null": '{"apiVersion": "v1", "kind": "A"} null {"apiVersion": "v1", "kind": "B"}',
    "JSON and a number": '{"apiVersion": "v1", "kind": "A"} 1',
    "YAML and JSON": _HEAD + '---\n{"apiVersion": "v1", "kind": "A", "a": 1.0}\n',
    "YAML and two of JSON": _HEAD + '---\n{"apiVersion": "v1", "kind": "A"}{"apiVersion": "v1", "kind": "B"}\n',
    "a separator and JSON": '---\n{"apiVersion": "v1", "kind": "A"}\n',
    "a JSON list": '[{"apiVersion": "v1", "kind": "A"}]',
    "flow YAML": "{apiVersion: v1, kind: A, a: 0o14}\n",
    "flow YAML twice": "{apiVersion: v1, kind: A}\n---\n{apiVersion: v1, kind: B}\n",
    "spaces and JSON": ' \n\t{"apiVersion": "v1", "kind": "A"}',
    "a hard space and JSON": '\u00a0{"apiVersion": "v1", "kind": "A"}',
    "JSON beyond where kubectl looks": " " * 4096 + '{"apiVersion": "v1", "kind": "A", "a": "\\ud800"}',
    "few aliases": _HEAD + "a: &a [1,1,1]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\n",
    "an alias bomb": _HEAD
    + "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n"
    + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)),
    "aliases just allowed": _HEAD + "a: &a [" + "1," * 100 + "]\nb: [" + "*a," * 90 + "]\n",
    "aliases just too many": _HEAD + "a: &a [" + "1," * 1000 + "]\nb: [" + "*a," * 900 + "]\n",
}


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def _values() -> list[str]:
    return [word.replace("\0", " ") for word in _VALUES.replace("\\ ", "\0").split(None) if word]


CORPUS: dict[str, bytes] = {
    **{f"value {value}": f"{_HEAD}a: {value}\n".encode() for value in dict.fromkeys(_values())},
    **{name: _bytes(_HEAD + body) for name, body in _BODIES.items()},
    **{name: _bytes(text) for name, text in _STREAMS.items()},
}
