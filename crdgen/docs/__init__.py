"""Reference documentation as Markdown, from a CRD or a schema.

- `page`: the page of a kind, from its CRD, the table of fields below a schema, and what is demanded across fields
- `types`: what a field may hold, in words
- `example`: the least object that the schema takes
- `markdown`: tables, code and text that mean what they say
"""

from crdgen.docs.page import fields, page

__all__ = ["fields", "page"]
