"""The review without a cluster: what the API server and our webhook would do with an object.

- `judge`: the verdict on one object, in the API server's order; `items`: on a prerequisite
- `files`: namespaces and prerequisites in files, as if they were in a cluster
- `audit`: reviews stored jobs
- `fit`: checks what a CRD of another chart would drop or reject

`crdgen.reading` reads manifests as `kubectl` does.
"""
