"""The model of a job: what the kinds are made of, and what rules, runner, controller and pod webhook read.

- `binding`: makes a kind from a custom resource, its defaults, rules and operator
- `schema`: checks a job against the schema of its kind; `metadata`: checks what the schema leaves out; `scale`: the
  subresource
- `fields`: types of fields that several kinds have; `policies`, `dependencies`: their models
- `tasks`, `gangs`, `prerequisites`, `erased`: read a job
- `operator`: what the operator of a kind makes of a template; `members`: how its pods name their job; `runner`: how
  jobgate runs the jobs of a kind; `wiring`: which kinds have pods that are wired
- `crew`: what plugins know of a job
- `defaults`: defaults that every kind can share
"""
