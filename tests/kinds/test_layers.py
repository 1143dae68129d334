"""Kinds do not know each other, and what they share knows none of them: found out for whatever kinds there are."""

import grimp


def test_no_kind_imports_another_and_what_they_share_imports_none() -> None:
    graph = grimp.build_graph("jobgate", cache_dir=None)
    kinds = graph.find_children("jobgate.kinds")
    shared = {"jobgate.kinds.common"}
    assert kinds > shared
    for importer in kinds:
        for imported in kinds - shared - {importer}:
            assert not graph.find_shortest_chains(importer, imported, as_packages=True), (importer, imported)
