"""Write the JSON Schema of files with configured kinds: `python -m tools.configured_schema`."""

import json
from pathlib import Path

from jobgate.configured.entry import Entry

FILE = Path("docs/reference/kind.schema.json")

if __name__ == "__main__":
    FILE.write_text(json.dumps(Entry.model_json_schema(by_alias=True), indent=2) + "\n", encoding="utf-8")
