"""The Pod Security levels: what the level of a namespace rejects in pods, reported when the job is applied.

- `violation`, `policy`: what violates a level, and what the labels of a namespace ask for
- `privileges`, `profiles`, `limits`: the checks; `levels`: the plain types of Pods that
  violate no level
- `rules`: the rule of jobs

It answers as the admission plugin `PodSecurity` answers the creation of the Pod, which is held against a real API
server (`bench.differential.pods`).
"""
