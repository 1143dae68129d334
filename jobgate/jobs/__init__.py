"""The model of a job: defines the kinds, and is read by rules, runner, controller and pod webhook.

- `binding`: creates a kind from a custom resource, its defaults, rules and operator
- `job`, `task`: views of a job and its tasks that are the same for all kinds
- `schema`: checks a job against the schema of its kind; `metadata`: checks the object's own metadata; `scale`: the
  scale subresource
- `fields`: types of fields that several kinds have; `policies`, `dependencies`: their models
- `gangs`, `prerequisites`, `erased`: read a job
- `operator`: the Pod that the operator of a kind creates from a template; `members`: how its pods identify their job;
  `runner`: how jobgate runs the jobs of a kind; `wiring`: the kinds whose pods get plugins
- `crew`: creates the view of a job that plugins get
- `defaults`: defaults that every kind can share
"""
