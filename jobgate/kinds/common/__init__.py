"""What all kinds share. A module imports only modules below it.

- `rules`: the list of the shared rules; `binding` makes a kind of a custom resource, its defaults, rules and operator
- Rules: `tasks` (names), `gang` (numbers of pods), `dependencies`, `policies`, `plugins`, `prerequisites`,
  `scheduling` (queue, scheduler, priorities), `ignored` (fields that the operator ignores), `templates` (pods),
  `pod_security`, `updates` (what may change in a stored job)
- Defaults: `defaults`
- Who runs the jobs: `operator` (what it makes of a template), `members` (whose its pods are), `newer_fields` (what its
  types lose), `runner` (how jobgate runs them), `wiring` (which kinds have pods that get something)
- Plugins: `crew` (what they know of a job), `ordinary` (jobs in which they surely find nothing)
- The schema: `fields` (types of fields that several kinds have), `schema` (its findings as causes), `metadata` (what it
  does not check), `fitting` (fast acceptance), `scale` (the subresource)
- Values: `pod` (what the API server rejects in a Pod), `quantity`, `durations`, `erased` (fields that a client erased)
"""
