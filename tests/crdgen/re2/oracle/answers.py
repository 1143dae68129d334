"""Answers of Go, from the Go program in this folder or from the golden file."""

import json
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "patterns.json"


def ask(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return, for each pattern and its texts, `{"found": […]}` or `{"error": "…"}`."""
    request = json.dumps(questions)
    process = subprocess.run(["go", "run", "."], cwd=HERE, input=request.encode(), stdout=subprocess.PIPE, check=True)
    answers: list[dict[str, Any]] = json.loads(process.stdout)
    return answers


def golden() -> list[dict[str, Any]]:
    """Return the recorded questions with their answers."""
    recorded: list[dict[str, Any]] = json.loads(GOLDEN.read_text())
    return recorded
