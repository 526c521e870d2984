"""Draws the servers and the handlers on which the linter is judged at first contact.

`python -m bench.lint.contact` prints the lot of each server in contact.toml: ten for the first reading, ten for the
second, and a reserve; then ten each of the lists after it, twenty of contact-5.toml, twelve of contact-13.toml, of
contact-15.toml and of contact-16.toml, and ten of contact-14.toml. Another seed each draws the last three.
`python -m bench.lint.contact first HANDLERS` draws the handlers of a lot to read: 20 of the first lot, 100 of the
others. HANDLERS lists all handlers, as a reader found them in the registrations, in lines such as
`owner/name/path/file.py function`, and lies beside folders called `owner/name`.
"""

from __future__ import annotations

import ast
import random
import sys
import tomllib
from pathlib import Path

SEED = 20261129
SEEDS = {  # for servers; all handlers are drawn with SEED
    "contact-14.toml": 20261214,
    "contact-15.toml": 20261215,
    "contact-16.toml": 20261216,
}
QUOTAS = {"loop": 3, "low-level": 2, "fastmcp": 3, "sdk": 2}  # of each kind in each lot before the thirteenth
LATER: dict[str, dict[str, int]] = {  # where not three of each kind, in the lots after
    "contact-13.toml": {"fastmcp": 4},
    "contact-14.toml": {"fastmcp": 4},
    "contact-15.toml": {},
    "contact-16.toml": {"fastmcp": 4, "sdk": 5},
}
FILES = {
    "contact.toml": ("first", "second"),
    "contact-3.toml": ("third",),
    "contact-4.toml": ("fourth",),
    "contact-5.toml": ("fifth", "sixth"),
    "contact-7.toml": ("seventh",),
    "contact-8.toml": ("eighth",),
    "contact-9.toml": ("ninth",),
    "contact-10.toml": ("tenth",),
    "contact-11.toml": ("eleventh",),
    "contact-12.toml": ("twelfth",),
    "contact-13.toml": ("thirteenth",),
    "contact-14.toml": ("fourteenth",),
    "contact-15.toml": ("fifteenth",),
    "contact-16.toml": ("sixteenth",),
}


def lots(file: str) -> dict[str, tuple[str, str]]:
    """Return the lot and the kind of each server in a file, which are drawn for each kind by itself."""
    servers = tomllib.loads(Path(__file__).with_name(file).read_text())
    shuffled, drawn = random.Random(SEEDS.get(file, SEED)), {}
    for kind, quota in (dict.fromkeys(QUOTAS, 3) | LATER[file] if file in LATER else QUOTAS).items():
        names = sorted((name for name in servers if servers[name]["kind"] == kind), key=str.lower)
        for place, name in enumerate(shuffled.sample(names, len(names))):
            drawn[name] = ([*FILES[file], "reserve"][min(place // quota, len(FILES[file]))], kind)
    return drawn


def catches(line: str, root: Path) -> bool:
    """Whether the function of a line has an `except` clause."""
    path, name = line.split()
    functions = [node for node in ast.walk(ast.parse((root / path).read_text())) if getattr(node, "name", "") == name]
    return any(isinstance(node, ast.ExceptHandler) for function in functions for node in ast.walk(function))


if __name__ == "__main__":
    if len(sys.argv) == 1:
        for file in FILES:
            print(*(f"{lot:8} {kind:10} {name}" for name, (lot, kind) in lots(file).items()), sep="\n")
    else:
        lines = sorted(Path(sys.argv[2]).read_text().splitlines())
        if sys.argv[1] != "first":
            lines = [line for line in lines if catches(line, Path(sys.argv[2]).parent)]
        print(*random.Random(SEED).sample(lines, min(len(lines), 20 if sys.argv[1] == "first" else 100)), sep="\n")
