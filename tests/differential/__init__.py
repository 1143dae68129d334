"""Comparisons of verdicts, case by case.

- `crds`: the linter of crdgen and a real API server, on CRDs
- `objects`: the evaluation of crdgen and a real API server, on objects
- `pods`: the checks of pod templates and a real API server, on Pods
- `engine`: the review of this checkout and that of another one
- `zoo`: models whose CRDs these and other tests use; `tables` reads cases from YAML

Each can be run as a whole, for example with `python -m tests.differential.pods`; the tests run a sample.
"""
