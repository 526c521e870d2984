"""The README and the tutorial, followed with the built wheel in fresh environments: `python tests/quickstart.py`.

Each Python from 3.11 to 3.14 that can be found gets an environment with nothing but what the pages install. In it the commands of
the pages must print what the pages show, and the Python blocks must run. At last, `mcpcore new` makes a project, whose tests run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from test_docs import ROOT, blocks_of, check_transcript, write_titled

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
README, TUTORIAL = ROOT / "README.md", ROOT / "docs" / "tutorial" / "index.md"


def interpreter(version):
    """The path of an interpreter of this version, or None."""
    here = [sys.executable, shutil.which(f"python{version}")]
    managed = [
        *Path.home().glob(f".pyenv/versions/{version}.*/bin/python"),
        *Path.home().glob(f".local/share/uv/python/cpython-{version}*/bin/python"),
    ]
    for path in [*here, *managed]:
        if path is None:
            continue
        told = subprocess.run(
            [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if told.stdout.strip() == version:
            return str(path)
    return None


def requirements_of(page):
    """What `pip install` of the page installs."""
    return re.findall(
        r'"[^"]+"|\S+', re.search(r"^pip install (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)[1]
    )


def follow(page, folder, python):
    """Do what the page says."""
    code = []
    for block in blocks_of(page):
        write_titled(block, folder)
        if block.language == "console":
            check_transcript(block, f"{page.name}:{block.line}", folder, scripts=python.parent)
        elif block.language == "python" and "no-run" not in block.info:
            code.append(block.text)
    (folder / "blocks.py").write_text("\n".join(code), encoding="utf-8")
    subprocess.run([python, "blocks.py"], cwd=folder, check=True, capture_output=True)


def try_out(wheel, version, found):
    with tempfile.TemporaryDirectory() as name:
        python = Path(name, "venv", "bin", "python")
        subprocess.run([found, "-m", "venv", python.parents[1]], check=True)
        for page in (README, TUTORIAL):
            folder = Path(name, page.parent.name)
            folder.mkdir()
            needed = [
                word.strip('"').replace("mcpcore", f"mcpcore @ {wheel.as_uri()}") if "mcpcore" in word else word
                for word in requirements_of(page)
            ]
            needed = [re.sub(r"^mcpcore @ (\S+?)(\[\w+\])$", r"mcpcore\2 @ \1", word) for word in needed]
            subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "-qq", "install", *needed], check=True)
            follow(page, folder, python)
        subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "check"], check=True, capture_output=True)


def try_a_new_project(wheel):
    """`mcpcore new`, and both commands of its README, in the environment that they make."""
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([sys.executable, "-m", "mcpcore", "new", "book-desk"], cwd=name, check=True, capture_output=True)
        environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
        environment |= {"PIP_FIND_LINKS": str(wheel.parent), "PYTHON": sys.executable}
        project = Path(name, "book-desk")
        for target, shown in (("test", "15 passed"), ("call", "reason all_lent")):
            done = subprocess.run(
                ["make", target], cwd=project, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
            assert shown in done.stdout, done.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, str(ROOT)]
        subprocess.run(build, check=True, capture_output=True)
        wheel = next(Path(folder).glob("*.whl"))
        tried = 0
        for version in VERSIONS:
            found = interpreter(version)
            if found is None:
                print(f"Python {version}: not on this machine, skipped")
                continue
            start = time.monotonic()
            try_out(wheel, version, found)
            tried += 1
            print(f"Python {version}: the README and the tutorial work ({time.monotonic() - start:.0f} s)")
        try_a_new_project(wheel)
        print("make test and make call of a new project work")
    print(f"{tried + 1} passed, 0 failed")


if __name__ == "__main__":
    main()
