"""Writing go.mod and go.sum anew, after the Kubernetes version in `versions.py` was changed."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.controlplane.build import LOCKED_MODULE, compile_programs
from tests.controlplane.golang import Go, find_or_install_go
from tests.controlplane.module import go_mod
from tests.controlplane.progress import Progress
from tests.controlplane.versions import KUBERNETES, PACKAGES


def lock(progress: Progress) -> None:
    """Compute go.mod from that of Kubernetes, build everything once, and keep the sums of what the build took."""
    go = find_or_install_go(os.environ, progress)
    with tempfile.TemporaryDirectory() as scratch:
        module = Path(scratch) / "module"
        module.mkdir()
        (module / "go.mod").write_text(go_mod(KUBERNETES, _kubernetes_mod(go, module)), encoding="utf-8")
        compile_programs(go, module, list(PACKAGES), Path(scratch) / "bin", progress, mod="mod")
        for name in ("go.mod", "go.sum"):
            shutil.copyfile(module / name, LOCKED_MODULE / name)
            progress(f"wrote {LOCKED_MODULE / name}")


def _kubernetes_mod(go: Go, folder: Path) -> dict[str, Any]:
    """The go.mod of Kubernetes, as `go mod edit -json` prints it."""
    downloaded = _go_json(go, folder, "mod", "download", "-json", f"k8s.io/kubernetes@{KUBERNETES}")
    return _go_json(go, folder, "mod", "edit", "-json", downloaded["GoMod"])


def _go_json(go: Go, folder: Path, *args: str) -> dict[str, Any]:
    done = subprocess.run([go.command, *args], cwd=folder, env=dict(go.environment), stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found
