"""Reviews and explains objects without a cluster.

- `judge`: the verdict on one object, in the API server's order; `items`: on a prerequisite
- `files`: namespaces and prerequisites in files, looked up as in a cluster
- `explanation`: the pods of a job, a Pod or another workload; `parts`: the parts of a pod, with their sources
- `audit`: reviews stored jobs
- `fit`: checks what a CRD of another chart would drop or reject

`crdgen.reading` reads manifests as `kubectl` does.
"""
