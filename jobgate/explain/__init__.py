"""Shows the pods of a job without a cluster, with the source of each part.

- `explanation`: explains a job of any kind, a Pod, or a workload of Kubernetes with a pod template
- `pod`: the parts of a pod, and the steps that add them
- `text`: an explanation as text
"""

from jobgate.explain.explanation import Explanation, explain
from jobgate.explain.pod import Row
from jobgate.explain.text import report

__all__ = ["Explanation", "Row", "explain", "report"]
