"""Writes go.mod and go.sum again, after a change of a version in `versions.py`."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from controlplane.build import compile_programs
from controlplane.golang import Go, find_or_install_go, upstream_mod
from controlplane.module import helm_go_mod, kubernetes_go_mod
from controlplane.progress import Progress
from controlplane.sources import HELM_SOURCE, KUBERNETES_SOURCE, KWOK_SOURCE, Source
from controlplane.versions import HELM, KWOK, LOCKED


def lock(progress: Progress) -> None:
    """Compute each go.mod from the upstream module's, and lock the versions that a build uses."""
    go = find_or_install_go(os.environ, progress)
    kubernetes = kubernetes_go_mod(LOCKED, upstream_mod(go, f"k8s.io/kubernetes@{LOCKED}"), KWOK)
    _lock(go, (KWOK_SOURCE, KUBERNETES_SOURCE), kubernetes, progress)
    _lock(go, (HELM_SOURCE,), helm_go_mod(HELM, upstream_mod(go, f"helm.sh/helm/v3@{HELM}")), progress)


def _lock(go: Go, sources: Sequence[Source], go_mod: str, progress: Progress) -> None:
    """Build all programs of a module's sources, and keep the go.mod and go.sum that the builds wrote."""
    folder = sources[0].folder
    assert folder is not None
    with tempfile.TemporaryDirectory() as scratch:
        module = Path(scratch) / "module"
        module.mkdir()
        (module / "go.mod").write_text(go_mod, encoding="utf-8")
        for source in sources:
            into = Path(scratch) / source.cached_as
            compile_programs(go, source, module, list(source.packages), into, progress, mod="mod")
        for name in ("go.mod", "go.sum"):
            shutil.copyfile(module / name, folder / name)
            progress(f"wrote {folder / name}")
