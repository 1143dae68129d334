"""Reference documentation as Markdown, from a CRD or a schema.

- `page`: the page of a kind from its CRD: tables of fields, rules, columns, an example
- `types`: the type of a field in words
- `example`: a minimal valid object
- `markdown`: tables, code and escaped text
"""

from crdgen.docs.page import fields, page

__all__ = ["fields", "page"]
