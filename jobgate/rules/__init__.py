"""The rules that the kinds share, one topic per file.

- `shared`: the list of them; a kind leaves out rules, or has its own instead
- `tasks` (names), `gangs` (numbers of pods), `dependencies`, `policies`, `plugins`, `prerequisites`, `commands`
- `scheduling`: queue, scheduler, priorities; `ignored`: fields that the operator ignores
- `templates`: the pods of a job; `pod_security`: the Pod Security level of its namespace
- `updates`: what may change in a stored job
- `ordinary`: jobs in which the plugins surely find nothing
"""
