"""Valid Pods, the start of mutations: `bases/*.yaml`, by name. The API server accepts all of them."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.differential.pods.case import Pod

BASES: dict[str, Pod] = {
    file.stem: yaml.safe_load(file.read_text(encoding="utf-8"))
    for file in sorted((Path(__file__).parent / "bases").glob("*.yaml"))
}
