"""What the tests of all kinds need of JobTemplates."""

from tests.kinds.samples import Sample

SAMPLE = Sample(harmless={"priorityClassName": "other"}, wide_model=True)
