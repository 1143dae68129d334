"""What the tests of all kinds need of JobFlows."""

from tests.kinds.samples import Sample

SAMPLE = Sample(harmless={"jobRetainPolicy": "retain"})
