"""JobFlows for the tests of all kinds."""

from tests.kinds.samples import Sample

SAMPLE = Sample(harmless={"jobRetainPolicy": "retain"})
