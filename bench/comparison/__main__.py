"""Compares mcpcore with its alternatives on the same failing tool.

`python -m bench.comparison [--doctor COMMAND] [--recorded]` writes bench/results/comparison.json and comparison.md, and
the table of the README. `make bench` installs mcp-ts-core and its Node in this folder, and mcp-doctor among the peers.
`--recorded` writes the pages from the record, such as after new figures of bench.runtime.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import anyio

from bench.comparison import record as recording
from bench.comparison.page import page, readme
from bench.conditions import conditions

ROOT: Final = Path(__file__).parents[2]
RESULTS: Final = ROOT / "bench" / "results"
README: Final = ROOT / "README.md"
DOCTOR: Final = ROOT / ".venv-peers" / "bin" / "mcp-doctor"


def runtime() -> dict[str, list[float]]:
    """What a declared failure costs in successes of the SDK, with the default logs and without, from bench.runtime."""
    settings = json.loads((RESULTS / "runtime.json").read_text(encoding="utf-8"))["settings"]
    ratios: dict[str, list[float]] = {"mcpcore": [], "sdk": [], "fastmcp": []}
    for setting in ("memory, defaults", "memory, silenced"):
        for row in settings[setting]:
            if row["outcome"] == "declared" and row["server"] in ratios:
                ratios[row["server"]].append(row["to_sdk_success"])
    return ratios


def measured(doctor: str) -> dict[str, Any]:
    """Everything, measured again."""
    logging.disable(logging.CRITICAL)  # of this process; the servers over stdio log as they do by default
    columns = anyio.run(recording.python_columns)
    columns["mcp-ts-core"], stdio = anyio.run(lambda: recording.over_stdio(rounds=40))
    checked = recording.checked(doctor)
    npm = json.loads((recording.HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    return {
        "conditions": conditions(),
        "versions": {
            "MCP SDK": version("mcp"),
            "FastMCP": version("fastmcp"),
            "mcp-ts-core": npm["@cyanheads/mcp-ts-core"],
            "mcp-doctor": checked.pop("version"),
            "TypeScript": npm["typescript"],
        },
        "columns": columns,
        "type error": recording.type_error(),
        "lint": recording.lint(),
        "checked": checked,
        "stdio": stdio,
        "by hand": anyio.run(lambda: recording.by_hand_in_memory(rounds=80)),
    }


def main() -> int:
    """Measure, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--doctor", default=str(DOCTOR), help="the command of mcp-doctor")
    parser.add_argument("--recorded", action="store_true", help="only write the pages, from the record")
    options = parser.parse_args()
    results = RESULTS / "comparison.json"
    if options.recorded:
        record = json.loads(results.read_text(encoding="utf-8"))
    else:
        missing = [] if shutil.which(options.doctor) else [options.doctor]
        missing += [] if recording.MODULES.exists() else [str(recording.MODULES)]
        if missing:
            print(f"not found: {', '.join(missing)}; run `make bench`", file=sys.stderr)
            return 1
        record = measured(options.doctor)
    record["runtime"] = runtime()
    results.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (RESULTS / "comparison.md").write_text(page(record), encoding="utf-8")
    text = README.read_text(encoding="utf-8")
    table = f"<!-- comparison -->\n\n{readme(record)}\n\n<!-- /comparison -->"
    text = re.sub(r"<!-- comparison -->.*<!-- /comparison -->", lambda _: table, text, flags=re.DOTALL)
    README.write_text(text, encoding="utf-8")
    print(readme(record))
    return 0


if __name__ == "__main__":
    sys.exit(main())
