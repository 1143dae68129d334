"""Generators of files that are committed: `make crds` and `make docs` run them, `make check` compares."""
