"""Kinds do not know each other: found out for whatever kinds there are. The contracts keep the rest from naming them."""

import grimp


def test_no_kind_imports_another() -> None:
    graph = grimp.build_graph("jobgate", cache_dir=None)
    kinds = graph.find_children("jobgate.kinds")
    assert len(kinds) > 1
    for importer in kinds:
        for imported in kinds - {importer}:
            assert not graph.find_shortest_chains(importer, imported, as_packages=True), (importer, imported)
