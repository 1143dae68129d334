"""The defaults and rules of the kind $name, beyond its models. Their docstrings are its documentation.

`says` is what CEL can say of a function. `jobgate manifests --policies` renders it as admission policies, which hold
while no server answers. What CEL cannot say needs none.
"""

from collections.abc import Iterator

from jobgate.api import (
    Cause,
    Context,
    Draft,
    Fault,
    Fill,
    Forbidden,
    Invalid,
    Object,
    Place,
    fill,
    rule,
    says,
)

from $package.models import Spec


@says()
def constants(draft: Draft, _: Context) -> None:
    """The defaults of the models, for an API server without the defaults of the CRD."""
    spec = draft.at("spec")
    if spec is not None:
        fill(spec, Spec)


@says(Fill(Place.JOB, "spec.maximum", "object.spec.minimum", "has(object.spec.minimum)"))
def maximum_is_the_minimum(draft: Draft, _: Context) -> None:
    """Without a maximum, there are always as many instances as the minimum."""
    spec = draft.at("spec")
    if spec is not None and "minimum" in spec:
        spec.setdefault("maximum", spec["minimum"])


@rule("maximum")
@says(Fault("maximum", "$$(it) < $$(minimum)"))
def bounds_agree(subject: Object[Spec], _: Context) -> Iterator[Cause]:
    """A maximum below the minimum leaves no valid number of instances."""
    spec = subject.spec
    if spec.maximum is not None and spec.maximum < spec.minimum:
        yield Invalid("spec.maximum", spec.maximum, f"must be at least spec.minimum, {spec.minimum}")


@rule("region", updates=True)
def region_stays(subject: Object[Spec], context: Context) -> Iterator[Cause]:
    """Data does not move to another region by itself."""
    stored = (context.old or {}).get("spec", {}).get("region")
    if subject.spec.region != stored:
        yield Forbidden("spec.region", f"must stay {stored}: create another $name", value=subject.spec.region)


DEFAULTS = (constants, maximum_is_the_minimum)
RULES = (bounds_agree, region_stays)
