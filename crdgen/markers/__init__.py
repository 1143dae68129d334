"""Vocabulary for authors: `Model`, the base of models, and markers for `Annotated[…]`.

A marker checks itself against the schema of its field.
"""
