"""Every bench, one after the other: `python -m bench [NAME …]`; each writes its figures to bench/results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def names() -> list[str]:
    """The benches that there are: the packages beside this file that can be run."""
    return sorted(path.parent.name for path in HERE.glob("*/__main__.py"))


def main(chosen: list[str]) -> int:
    """Run the benches that are named, or all; 1 where one of them misses what it has to reach."""
    unknown = [name for name in chosen if name not in names()]
    if unknown:
        print(f"no bench is called {', '.join(unknown)}; there are {', '.join(names())}", file=sys.stderr)
        return 2
    missed = []
    for name in chosen or names():
        print(f"== {name}", flush=True)
        # Each runs in its own process: the imports and settings of one must not speed up another.
        if subprocess.run([sys.executable, "-m", f"bench.{name}"], cwd=HERE.parent, check=False).returncode:
            missed.append(name)
        print(flush=True)
    if missed:
        print(f"targets missed: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
