"""How long `mcpcore check` takes for 5,000 tools of which it calls none: `python -m bench.check.listing`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from timeit import timeit

from mcpcore.check import FORMATS

SERVER = (sys.executable, str(Path(__file__).parents[2] / "tests" / "check" / "servers" / "many.py"), "writing")

if __name__ == "__main__":
    for form in FORMATS:
        command = [sys.executable, "-m", "mcpcore", "check", "--fail-on", "never", "--format", form, "--", *SERVER]
        print(f"{form}: {timeit(lambda: subprocess.run(command, capture_output=True, check=True), number=1):.1f} s")  # noqa: B023
