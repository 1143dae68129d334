"""DIJobs for the tests of all kinds."""

from tests.kinds.samples import Sample

SAMPLE = Sample(harmless={"priority": "high"})
