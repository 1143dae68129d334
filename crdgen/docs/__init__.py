"""Reference documentation as Markdown, and JSON Schemas for editors, from a CRD or a schema.

- `page`: the page of a kind from its CRD: tables of fields, rules, columns, an example
- `sections`: the objects of a large schema, each described once
- `editor`: JSON Schemas for editors
- `types`: the type of a field in words
- `example`: a minimal valid object
- `markdown`: tables, code and escaped text
"""

from crdgen.docs.page import fields, page, pages

__all__ = ["fields", "page", "pages"]
