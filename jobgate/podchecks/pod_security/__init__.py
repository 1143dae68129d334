"""The Pod Security levels: what the level of a namespace rejects in pods, reported when the job is applied.

- `checks`: what violates a level
- `policy`: what the labels of a namespace ask for

It answers as the admission plugin `PodSecurity` answers the creation of the Pod, which is compared with a real API
server (`tests.differential.pods`), in the version of the definition that the namespace pins.
"""
