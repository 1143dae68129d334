"""Generate structural schemas from Pydantic models. Each file is a stage; `pipeline` runs them in order.

The stages `describe` and `inline` process the whole model. The following stages process one node, children before their
parents: so the members of a union are complete. `policy`, `tidy` and `order` process the whole schema again. A stage
raises a `SchemaError` if no structural schema can express the model.

`walk` runs a stage on every node, and defines the notes that stages leave for each other; `errors` has the errors for
authors. Importing this package does not import the stages, so models with markers do not load them.
"""
