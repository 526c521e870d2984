"""Draws the servers and the handlers on which the linter is judged at first contact.

`python -m bench.lint.contact` prints the lot of each server in contact.toml: ten for the first reading, ten for the
second, and a reserve. `python -m bench.lint.contact first HANDLERS` draws the handlers of a lot to read: 20 of the
first lot, 100 of the second. HANDLERS lists all handlers, as a reader found them in the registrations, in lines such
as `owner/name/path/file.py function`, and lies beside folders called `owner/name`.
"""

from __future__ import annotations

import ast
import random
import sys
import tomllib
from pathlib import Path

SEED = 20261129
QUOTAS = {"loop": 3, "low-level": 2, "fastmcp": 3, "sdk": 2}  # of each kind in the first and in the second lot
COUNTS = {"first": 20, "second": 100}


def lots() -> dict[str, tuple[str, str]]:
    """Return the lot and the kind of each server, which are drawn for each kind by itself."""
    servers = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
    shuffled, drawn = random.Random(SEED), {}
    for kind, quota in QUOTAS.items():
        names = sorted((name for name in servers if servers[name]["kind"] == kind), key=str.lower)
        for place, name in enumerate(shuffled.sample(names, len(names))):
            drawn[name] = ([*COUNTS, "reserve"][min(place // quota, 2)], kind)
    return drawn


def catches(line: str, root: Path) -> bool:
    """Whether the function of a line has an `except` clause."""
    path, name = line.split()
    functions = [node for node in ast.walk(ast.parse((root / path).read_text())) if getattr(node, "name", "") == name]
    return any(isinstance(node, ast.ExceptHandler) for function in functions for node in ast.walk(function))


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(*(f"{lot:8} {kind:10} {name}" for name, (lot, kind) in lots().items()), sep="\n")
    else:
        lines = sorted(Path(sys.argv[2]).read_text().splitlines())
        if sys.argv[1] == "second":
            lines = [line for line in lines if catches(line, Path(sys.argv[2]).parent)]
        print(*random.Random(SEED).sample(lines, min(len(lines), COUNTS[sys.argv[1]])), sep="\n")
