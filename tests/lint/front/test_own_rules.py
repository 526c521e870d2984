"""The example package with a custom rule: built, installed, found, run, suppressed, cached and fixed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "house_rules"
RULE = "house-request-without-timeout"

SERVER = '''\
import requests
from mcpcore import tool


@tool
def fetch(url: str) -> str:
    """Fetch a page."""
    return requests.get(url).text
'''

SAID = f"server.py:8:12: warning [{RULE}] requests.get has no timeout"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The folder into which the example's wheel is installed."""
    folder = tmp_path_factory.mktemp("house")
    source = shutil.copytree(EXAMPLE, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=source)
    (wheel,) = folder.glob("*.whl")
    site = folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile", "--target"]
    run([*pip, str(site), str(wheel)], cwd=folder)
    return site


@pytest.fixture
def site(package, tmp_path):
    """A copy of the package that a test may change."""
    return shutil.copytree(package, tmp_path / "site")


@pytest.fixture
def house(empty, site):
    """A project with the package installed, and a function that lints it."""
    empty.write("server.py", SERVER)
    env = {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}

    def lint(*args):
        return empty.process("--format", "concise", *args, env=env)

    empty.run = lint
    return empty


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **options)
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


def test_an_installed_rule_is_like_any_other(house):
    """It is listed, explained, on by default, selected by id and family, and ignored by id."""
    assert RULE in house.run("--list-rules").stdout
    assert f"# {RULE}" in house.run("--explain", RULE).stdout
    for options in ([], ["--select", "house"]):
        assert SAID in house.run(*options).stdout
    assert RULE not in house.run("--ignore", RULE).stdout
    report = house.process("--format", "json", env={"PYTHONPATH": str(house.root.parent / "site")}).stdout
    assert '"tool": "fetch"' in report


def test_settings_and_comments_apply_to_it(house):
    """Its severity can be set, also for some files only, and a comment suppresses it."""
    house.settings(f'[tool.mcpcore.lint.severities]\n{RULE} = "error"\n')
    assert SAID.replace("warning", "error") in house.run().stdout
    house.settings(f'[tool.mcpcore.lint.per-file]\n"server.py" = {{ ignore = ["{RULE}"] }}\n')
    assert RULE not in house.run().stdout
    house.settings("")
    house.write("server.py", SERVER.replace(".text", f".text  # mcpcore: ignore[{RULE}] it is fast"))
    result = house.run()
    assert 0 == result.returncode, result.stdout
    house.write(
        "server.py",
        SERVER.replace(".text", f".text  # mcpcore: ignore[{RULE}] it is fast").replace("(url)", "(url, timeout=1)"),
    )
    assert "unused-ignore" in house.run().stdout


def test_its_fix_is_made_on_request(house):
    """An unsafe fix is offered, shown, and made only with `--unsafe-fixes`; a second run has nothing to do."""
    house.run("--fix")
    assert SERVER == (house.root / "server.py").read_text()
    assert "+    return requests.get(url, timeout=30).text" in house.run("--unsafe-fixes", "--diff").stdout
    result = house.run("--fix", "--unsafe-fixes")
    assert 0 == result.returncode, result.stdout + result.stderr
    assert SERVER.replace("(url).", "(url, timeout=30).") == (house.root / "server.py").read_text()


def test_its_results_are_cached_until_it_or_the_code_changes(house, site):
    """A second run uses the cache; an edited rule, changed settings or an edited file are checked again."""
    old = time.time() - 100
    os.utime(house.root / "server.py", (old, old))
    for _ in range(2):
        assert SAID in house.run().stdout
    rule = site / "house_rules.py"
    rule.write_text(rule.read_text().replace("has no timeout", "may hang"))
    assert "requests.get may hang" in house.run().stdout
    assert RULE not in house.run("--ignore", RULE).stdout
    assert "requests.get may hang" in house.run().stdout
    house.write("server.py", SERVER.replace("requests.get", "requests.post"))
    assert "requests.post may hang" in house.run().stdout
    house.write("server.py", SERVER.replace("requests.get(url)", "url"))
    assert RULE not in house.run().stdout


def test_its_crash_is_reported_and_the_rest_goes_on(house, site):
    """A rule that raises is reported with the file, and the other rules and files are checked."""
    rule = site / "house_rules.py"
    rule.write_text(
        rule.read_text().replace("called = self", "raise KeyError(node.func.attr.value)\n        called = self")
    )
    house.write("other.py", "from mcpcore import tool\n\n\n@tool(errors=[])\ndef ping() -> str:\n    ...\n")
    result = house.run()
    assert 2 == result.returncode
    crashes = [line for line in result.stdout.splitlines() if f"the rule {RULE} crashed: KeyError: 'get'" in line]
    assert [True] == ["server.py" in line for line in crashes]
    assert "other.py:4:14: warning [error-contract-empty]" in result.stdout


def test_its_own_tests_pass_where_it_is_installed(package, tmp_path):
    """The example's test file passes against the installed package."""
    tests = shutil.copy(EXAMPLE / "test_house_rules.py", tmp_path)
    env = {**os.environ, "PYTHONPATH": str(package)}
    assert "5 passed" in run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests], cwd=tmp_path, env=env
    )


LAZY = """\
from mcpcore_lint.codemods import CstRule


class Lazy(CstRule):
    id = "house-lazy"
    summary = why = bad = good = how_to_fix = when_to_suppress = "x"

    def visit_Call(self, node):
        self.report(node, "a call")
"""


def test_libcst_is_loaded_only_if_a_rule_visits_something(house, site):
    """A rule that does not import libcst itself costs nothing in files without tools, or if it is not selected."""
    (site / "house_rules.py").write_text(LAZY)
    code = "import atexit, sys; atexit.register(lambda: print('libcst' in sys.modules))\n"
    code += "from mcpcore_lint.cli import lint; lint()"

    def loaded(*args):
        done = subprocess.run(
            [sys.executable, "-c", code, "--no-cache", *args],
            cwd=house.root,
            env={**os.environ, "PYTHONPATH": str(site)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return done.stdout.splitlines()[-1], "house-lazy" in done.stdout

    assert ("True", True) == loaded()
    assert ("False", False) == loaded("--ignore", "house-lazy")
    house.write("server.py", "import mcpcore\n\n\ndef plain():\n    print()\n")
    assert ("False", False) == loaded()


def test_without_such_packages_importlib_metadata_is_not_loaded() -> None:
    """Importing the package metadata reader takes longer than checking a file."""
    code = (
        "import sys\nfrom mcpcore_lint.rules import all_rules\nall_rules()\nprint('importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "False\n"
