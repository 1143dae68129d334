"""The Pod Security levels: what a namespace that is held to one refuses in pods, reported when the job is applied.

- `violation`, `policy`: what a level minds, and what the labels of a namespace ask for
- `privileges`, `profiles`, `limits`: the checks; `levels`: the plain types of Pods in which a level minds
  nothing
- `rules`: the rule of jobs

It answers as the admission plugin `PodSecurity` answers the creation of the Pod, which is held against a real API
server (`bench.differential.pods`).
"""
