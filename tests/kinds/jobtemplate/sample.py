"""JobTemplates for the tests of all kinds."""

from tests.kinds.samples import Sample

SAMPLE = Sample(harmless={"priorityClassName": "other"}, wide_model=True)
