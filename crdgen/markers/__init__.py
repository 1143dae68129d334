"""What an author writes into models: `Model`, their base, and markers, which say in `Annotated[…]` what a type cannot.

A marker checks itself against the schema that it is put on.
"""
