"""Comparisons of verdicts.

- `crds`: the linter of crdgen and a real API server, on CRDs
- `objects`: the evaluation of crdgen and a real API server, on objects
- `pods`: the checks of pod templates and a real API server, on Pods
- `engine`: the review of this checkout and that of another one
- `zoo`: models for the CRDs of these and other tests; `tables` reads cases from YAML

Each has a command for all cases, for example `python -m tests.differential.pods`; the tests run a sample.
"""
