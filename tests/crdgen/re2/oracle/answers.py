"""What Go answers: asked of the Go program here, or taken from the golden file."""

import json
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "patterns.json"


def ask(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each pattern with its texts `{"found": […]}`, or `{"error": "…"}`."""
    request = json.dumps(questions)
    done = subprocess.run(["go", "run", "."], cwd=HERE, input=request.encode(), stdout=subprocess.PIPE, check=True)
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def golden() -> list[dict[str, Any]]:
    """The recorded questions, each with its answer."""
    recorded: list[dict[str, Any]] = json.loads(GOLDEN.read_text())
    return recorded
