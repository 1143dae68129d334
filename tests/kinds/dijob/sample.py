"""What the tests of all kinds need of DIJobs."""

from tests.kinds.samples import Sample

SAMPLE = Sample(harmless={"priority": "high"})
