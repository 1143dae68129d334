"""The rules that the kinds share, one topic per file.

- `shared`: lists them; a kind can leave out rules or replace them
- `tasks` (names), `gangs` (numbers of pods), `dependencies`, `policies`, `plugins`, `prerequisites`
- `scheduling`: queue, scheduler, priorities; `ignored`: fields that the operator ignores
- `templates`: the pods of a job; `pod_security`: the Pod Security level of its namespace
- `updates`: which fields of a stored job may change
"""
