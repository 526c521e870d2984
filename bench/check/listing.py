"""How long `mcpcore check` takes for 5,000 tools of which it calls none: `python -m bench.check.listing`.

It prints the wall time of each format, the start of the server included, and the CPU time of all, which shows whether
a long wall time is the fault of other programs. It exits with 1 if a format takes longer than 10 s in each of three
runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from timeit import repeat

from mcpcore.check import FORMATS

SERVER = (sys.executable, str(Path(__file__).parents[2] / "tests" / "check" / "servers" / "many.py"), "writing")
LIMIT = 10


def measure(form: str, runs: int) -> float:
    """The shortest wall time of some runs."""
    command = [sys.executable, "-m", "mcpcore", "check", "--fail-on", "never", "--format", form, "--", *SERVER]
    return min(repeat(lambda: subprocess.run(command, capture_output=True, check=True), number=1, repeat=runs))


def main() -> int:
    """Measure every format; the result is 1 if one is over the limit."""
    seconds = {form: measure(form, 1) for form in FORMATS}
    seconds |= {form: min(took, measure(form, 2)) for form, took in seconds.items() if took > LIMIT}
    used = os.times()
    print(*(f"{form}: {took:.1f} s (limit {LIMIT} s)" for form, took in seconds.items()), sep="\n")
    print(f"CPU time of all runs: {used.children_user + used.children_system:.1f} s")
    return int(max(seconds.values()) > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
