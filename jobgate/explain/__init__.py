"""What the pods of a job will be, each part with where it comes from, with no cluster.

- `explanation`: of a job of any kind, of a Pod, and of the workloads of Kubernetes that have a template
- `pod`: of one pod: steps that put something into it, and what each of them adds
- `prerequisites`: the step of prerequisites
- `text`: as a person reads it
"""

from jobgate.explain.explanation import Explanation, explain
from jobgate.explain.pod import Row
from jobgate.explain.text import report

__all__ = ["Explanation", "Row", "explain", "report"]
