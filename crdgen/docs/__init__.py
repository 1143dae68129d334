"""Reference documentation as Markdown, from a CRD or a schema.

- `page`: the page of a kind, from its CRD, and the table of fields below a schema
- `types`: what a field may hold, in words
- `rules`: what is demanded across fields
- `example`: the least object that the schema takes
- `markdown`: tables, code and text that mean what they say
"""

from crdgen.docs.page import fields, page

__all__ = ["fields", "page"]
