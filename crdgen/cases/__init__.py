"""Test CRDs and admission policies with cases in YAML files, beside manifests.

- `model`: the file of cases, and patches of objects
- `suite`: a file with its CRDs, policies and objects; the verdict on a case
- `coverage`: which rules and constraints of a schema a rejected object violates
- `policies`: ValidatingAdmissionPolicies
- `verdict`: what a judge returns
"""

from crdgen.cases.model import Case, CaseFile
from crdgen.cases.suite import Suite, UnusableFile
from crdgen.cases.verdict import CaseVerdict, Request

__all__ = ["Case", "CaseFile", "CaseVerdict", "Request", "Suite", "UnusableFile"]
