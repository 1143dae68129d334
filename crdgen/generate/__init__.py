"""Generates structural schemas from Pydantic models. Each file is a stage; `pipeline` runs them in order.

The stages `describe` and `inline` take the model as a whole. The next ones take one node each, and run for the children
before their parents: a union finds members that are complete. `policy`, `tidy` and `order` take the whole again. Each
raises a `SchemaError` where no structural schema says what the model says.

`walk` runs a stage on every node, and names the notes that stages leave; `errors` is what the author reads.
Importing this package loads none of them: a model with markers is described only when its schema is asked for.
"""
