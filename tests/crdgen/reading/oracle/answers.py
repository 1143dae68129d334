"""What kubectl's own libraries read from a text: asked of the Go program here, or taken from the golden file."""

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "manifests.json"


def ask(texts: list[bytes]) -> list[dict[str, Any]]:
    """For each text `{"objects": […]}` or `{"error": "…"}`, from the libraries of the Kubernetes version in go.mod."""
    request = json.dumps([base64.b64encode(text).decode() for text in texts])
    done = subprocess.run(["go", "run", "."], cwd=HERE, input=request.encode(), stdout=subprocess.PIPE, check=True)
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def golden() -> dict[str, dict[str, Any]]:
    """The recorded answers, by the name of the case."""
    answers: dict[str, dict[str, Any]] = json.loads(GOLDEN.read_text())
    return answers
