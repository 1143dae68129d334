"""`python -m bench.crdgen`: measures the CPU time to generate CRDs; the exit status is 1 if it exceeds the limits.

First DIJob's CRD in a new interpreter, with imports; then 200 kinds in one process, each with its own models and names,
with and without an inlined pod template.
"""

import resource
import subprocess
import sys
import time
from typing import Annotated, Any

from pydantic import Field, create_model

from crdgen import Doc, Model, PodTemplate, crd
from crdgen.resource.resource import of

KINDS = 200
#: Limits in seconds: for DIJob's CRD, and for the CRDs of all kinds.
ONE_WITHIN, ALL_WITHIN = 1.5, 10.0
_CODE = "import crdgen; from jobgate.kinds.dijob import DIJOB; crdgen.to_yaml(crdgen.crd(DIJOB.resource))"


def main() -> int:
    """Measure all three and print them."""
    one = min(fresh() for _ in range(3))
    print(f"DIJob, import included: {one:.2f} s (best of 3; at most {ONE_WITHIN} s)", flush=True)
    plain = kinds(KINDS, dict[str, str])
    print(f"{KINDS} kinds: {_shown(plain)}", flush=True)
    with_pods = kinds(KINDS, PodTemplate)
    print(f"{KINDS} kinds with a pod template: {_shown(with_pods)}")
    return int(one > ONE_WITHIN or max(plain, with_pods) > ALL_WITHIN)


def fresh() -> float:
    """Return the CPU seconds in which a new interpreter generates DIJob's CRD as YAML."""
    before = _of_children()
    subprocess.run([sys.executable, "-c", _CODE], check=True)
    return _of_children() - before


def kinds(count: int, template: Any) -> float:
    """Return the CPU seconds for this many kinds, with the creation of their models."""
    began = time.process_time()
    for number in range(count):
        fields: dict[str, Any] = {
            "name": (Annotated[str, Field(min_length=1), Doc("Unique.")], ...),
            "replicas": (Annotated[int, Field(ge=1)], 1),
            "template": (template, ...),
        }
        task: Any = create_model(f"Task{number}", __base__=Model, **fields)
        spec: Any = create_model(f"Job{number}Spec", __base__=Model, tasks=(list[task], ...), queue=(str | None, None))
        crd(of(spec, group="bench.example.com", version="v1"))
    return time.process_time() - began


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _shown(seconds: float) -> str:
    return f"{seconds:.2f} s, {seconds / KINDS * 1000:.1f} ms each (at most {ALL_WITHIN} s)"


if __name__ == "__main__":
    sys.exit(main())
