"""The Pod Security levels: what a namespace that is held to one refuses in pods, reported when the job is applied.

- `violation`, `policy`: what a level minds, and what a namespace's labels ask for
- `host`, `privileges`, `users`, `profiles`, `sysctls`, `volumes`: a family of checks a file, with the plain shapes of
  what the levels `BASELINE` and `RESTRICTED` do not mind; `levels` has them all
- `rules`: the rule of jobs

It answers as the admission plugin `PodSecurity` answers the creation of the Pod, which is held against a real API
server (`tests/differential`).
"""
