"""The kind of the page that compares toolkits: what the page says that its user reads."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from crdgen.reading import read
from jobgate.api import bind
from jobgate.testing import allowed, changed, denied, verdict

TEXT = Path("docs/explanation/side-by-side.md").read_text()
FILES = dict(re.findall(r"^`(\S+)`\n\n```\w+\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))


def test_the_kind_of_the_page_denies_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "feature").mkdir()
    for name in ("feature/models.py", "feature/rules.py"):
        (tmp_path / name).write_text(FILES[name])
    monkeypatch.syspath_prepend(tmp_path)
    models, rules = import_module("feature.models"), import_module("feature.rules")
    for module in ("feature", "feature.models", "feature.rules"):
        monkeypatch.delitem(sys.modules, module)
    kind = bind(models.RESOURCE, defaults=rules.DEFAULTS, rules=rules.RULES)
    bad = read(FILES["denied.yaml"].encode(), "denied.yaml")[0].object
    good = changed(bad, {"spec": {"rollout": {"production": 5}, "salt": None}})
    assert verdict(kind, good) == allowed()
    assert verdict(kind, good).changes == ('+ spec.salt: "new-checkout"',)
    printed = re.findall(r"^\* (.*)$", TEXT, re.MULTILINE)
    assert verdict(kind, bad, old=verdict(kind, good).document) == denied(*printed)
    assert len(printed) == 2
