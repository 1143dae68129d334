"""Writes the golden files."""

from tests.crdgen.golden import FOLDER, texts

for name, text in texts().items():
    (FOLDER / name).write_text(text, encoding="utf-8")
