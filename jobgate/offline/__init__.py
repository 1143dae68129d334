"""The review with no cluster: what the API server and our webhook would make of an object.

- `judge`: the verdict on one object, in the API server's order
- `namespaces`: what is known of the namespaces that jobs are in
- `files`: the objects of files, as if they were those of a cluster
- `audit`: what the rules say of what is stored already
- `fit`: what a CRD of another owner would drop or reject; `sample`: the job that it is tried with
- `difference`: what would be changed

Manifests are read as `kubectl` does, by `crdgen.reading`.
"""
