"""The Pod Security levels: violations in pods, reported when the job is applied.

- `checks`: the violations of each level
- `policy`: the levels that the labels of a namespace set

It answers as the admission plugin `PodSecurity` answers the creation of the Pod, for the version that the namespace
pins. Tests compare it with a real API server (`tests.differential.pods`).
"""
