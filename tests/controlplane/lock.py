"""Writing go.mod and go.sum anew, after a version in `versions.py` was changed."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.controlplane.build import compile_programs
from tests.controlplane.golang import Go, find_or_install_go
from tests.controlplane.module import helm_go_mod, kubernetes_go_mod
from tests.controlplane.progress import Progress
from tests.controlplane.sources import HELM_SOURCE, KUBERNETES_SOURCE, KWOK_SOURCE, Source
from tests.controlplane.versions import HELM, KUBERNETES, KWOK


def lock(progress: Progress) -> None:
    """Compute each go.mod from that of the upstream module, and lock what a build with it takes."""
    go = find_or_install_go(os.environ, progress)
    kubernetes = kubernetes_go_mod(KUBERNETES, _upstream_mod(go, f"k8s.io/kubernetes@{KUBERNETES}"), KWOK)
    _lock(go, (KUBERNETES_SOURCE, KWOK_SOURCE), kubernetes, progress)
    _lock(go, (HELM_SOURCE,), helm_go_mod(HELM, _upstream_mod(go, f"helm.sh/helm/v3@{HELM}")), progress)


def _lock(go: Go, sources: Sequence[Source], go_mod: str, progress: Progress) -> None:
    """Build everything of the sources of one module once, and keep the sums of what the builds took."""
    with tempfile.TemporaryDirectory() as scratch:
        module = Path(scratch) / "module"
        module.mkdir()
        (module / "go.mod").write_text(go_mod, encoding="utf-8")
        for source in sources:
            into = Path(scratch) / source.cached_as
            compile_programs(go, source, module, list(source.packages), into, progress, mod="mod")
        for name in ("go.mod", "go.sum"):
            shutil.copyfile(module / name, sources[0].folder / name)
            progress(f"wrote {sources[0].folder / name}")


def _upstream_mod(go: Go, versioned: str) -> dict[str, Any]:
    """The go.mod of a module at a version, as `go mod edit -json` prints it."""
    with tempfile.TemporaryDirectory() as folder:
        downloaded = _go_json(go, folder, "mod", "download", "-json", versioned)
        return _go_json(go, folder, "mod", "edit", "-json", downloaded["GoMod"])


def _go_json(go: Go, folder: str, *args: str) -> dict[str, Any]:
    done = subprocess.run([go.command, *args], cwd=folder, env=dict(go.environment), stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found
