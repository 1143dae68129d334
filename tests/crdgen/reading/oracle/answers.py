"""Objects that kubectl's libraries read from a text, from the Go program in this folder or from the golden file."""

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "manifests.json"


def ask(texts: list[bytes]) -> list[dict[str, Any]]:
    """Return `{"objects": […]}` or `{"error": "…"}` for each text, with the Kubernetes version of go.mod."""
    request = json.dumps([base64.b64encode(text).decode() for text in texts])
    process = subprocess.run(["go", "run", "."], cwd=HERE, input=request.encode(), stdout=subprocess.PIPE, check=True)
    answers: list[dict[str, Any]] = json.loads(process.stdout)
    return answers


def golden() -> dict[str, dict[str, Any]]:
    """Return the recorded answers, by the name of the case."""
    answers: dict[str, dict[str, Any]] = json.loads(GOLDEN.read_text())
    return answers
