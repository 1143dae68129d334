"""Volcano Jobs for the tests of all kinds."""

from tests.kinds.samples import Sample

SAMPLE = Sample(
    harmless={"priorityClassName": "other"},
    replaced=frozenset(
        {
            "derived_names_are_legal",
            "plugins_are_known",
            "plugins_understand_their_arguments",
            "plugins_can_be_carried_out",
            "plugins_reach_new_pods_only",
            "derived_objects_have_legal_names",
        }
    ),
    wide_model=True,
)
