"""Imports load needed modules only."""

import subprocess
import sys

import pytest

import crdgen


@pytest.mark.parametrize(
    "statement, without",
    [
        ("import crdgen", "crdgen."),
        ("from crdgen import Column, CustomResource, Doc, Model, of", "crdgen.lint"),
        ("from crdgen import Column, CustomResource, Doc, Model, of", "crdgen.evaluate"),
        ("from crdgen.lint import lint", "crdgen.generate"),
    ],
)
def test_an_import_loads_needed_modules_only(statement: str, without: str) -> None:
    program = f"import sys; {statement}; print(*[name for name in sys.modules if name.startswith({without!r})])"
    answer = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert answer.stdout.split() == []


def test_every_exported_name_exists_and_no_other() -> None:
    assert all(getattr(crdgen, name) is not None for name in crdgen.__all__)
    assert dir(crdgen) == crdgen.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        crdgen.nothing  # noqa: B018
