"""The sizes of `pip install mcpcore` and `pip install "mcpcore[cli]"`: `python -m bench.install`.

Each is installed into a fresh environment, with the versions of requirements/dev.lock. The figures go to
bench/results/install.json.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.conditions import conditions

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench" / "results" / "install.json"
INSTALLS = ("mcpcore", "mcpcore[cli]")


def build(folder: Path) -> Path:
    """The wheel of the checkout."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def constraints() -> str:
    """The versions of the lock file. A constraint has neither extras nor hashes."""
    lock = (ROOT / "requirements" / "dev.lock").read_text(encoding="utf-8")
    pins = re.findall(r"^([\w.-]+)(?:\[[^\]]*\])?(==[^\\\n]+)", lock, re.MULTILINE)
    return "".join(f"{name}{rest.rstrip()}\n" for name, rest in pins)


def measure(requirement: str, wheel: Path, folder: Path) -> dict[str, int]:
    """Install into a fresh environment; return the bytes in its site-packages and the number of distributions."""
    environment = folder / requirement
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    pins = folder / "constraints.txt"
    pins.write_text(constraints(), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "--disable-pip-version-check"]
    what = requirement.replace("mcpcore", str(wheel), 1)
    subprocess.run([*pip, "install", "-q", "-c", str(pins), what], check=True)
    (site,) = environment.glob("lib/python*/site-packages")
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    return {"bytes": size, "distributions": len([*site.glob("*.dist-info")])}


def main() -> None:
    """Measure both, print a line for each, and write the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build(folder)
        sizes = {requirement: measure(requirement, wheel, folder) for requirement in INSTALLS}
    for requirement, size in sizes.items():
        print(f"{requirement}: {size['bytes'] / 1e6:.0f} MB in {size['distributions']} distributions")
    RESULTS.write_text(json.dumps({**conditions(), "installs": sizes}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
