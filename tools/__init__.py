"""Generators of committed files: `make crds` and `make docs` run them, `make check` compares the files."""
