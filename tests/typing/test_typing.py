"""The public API under five type checkers: what they must say of `cases/`, and nothing else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "cases"

EXPECTED = re.compile(r"#\s*E:\s*(?P<checkers>[a-z ]+?)\s*-\s*(?P<why>\S.*)$")

# What basedpyright's own default, "recommended", says of the style of the cases and not of the API that they use.
_STYLE = (
    "reportAny",
    "reportExplicitAny",
    "reportUnusedCallResult",
    "reportUnusedExpression",
    "reportUnusedFunction",
    "reportUnusedParameter",
)


@dataclass(frozen=True)
class Finding:
    """One diagnostic of one checker."""

    file: str
    line: int
    message: str

    @property
    def place(self) -> tuple[str, int]:
        return Path(self.file).name, self.line


@dataclass(frozen=True)
class Checker:
    """A type checker: its settings, its command, and what its output means."""

    name: str
    command: Callable[[list[str]], list[str]]
    read: Callable[[str], Iterable[Finding]]
    settings: tuple[str, str] | None = None

    def run(self, folder: Path, files: list[str]) -> list[Finding]:
        """Check `files`, which are in `folder`, against the `mcpcore` of this environment."""
        if self.settings is not None:
            (folder / self.settings[0]).write_text(self.settings[1], encoding="utf-8")
        findings = _run(self.command(files), folder, self.read)
        return [finding for finding in findings if Path(finding.file).name in files]


def _run(command: list[str], folder: Path, read: Callable[[str], Iterable[Finding]]) -> list[Finding]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    # 0: no diagnostics, 1: some; all else is a checker that did not do its work.
    assert done.returncode in (0, 1), f"{command[0]} exited {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return list(read(done.stdout))


def _script(name: str) -> str:
    return str(Path(sysconfig.get_path("scripts")) / name)


def _mypy(stdout: str) -> Iterable[Finding]:
    for line in stdout.splitlines():
        if line.startswith("{"):
            diagnostic = json.loads(line)
            if diagnostic["severity"] == "error":
                yield Finding(diagnostic["file"], diagnostic["line"], diagnostic["message"])


def _pyright(stdout: str) -> Iterable[Finding]:
    for diagnostic in json.loads(stdout)["generalDiagnostics"]:
        if diagnostic["severity"] != "information":
            yield Finding(diagnostic["file"], diagnostic["range"]["start"]["line"] + 1, diagnostic["message"])


def _ty(stdout: str) -> Iterable[Finding]:
    for diagnostic in json.loads(stdout):
        yield Finding(diagnostic["location"]["path"], diagnostic["location"]["positions"]["begin"]["line"], diagnostic["description"])


def _pyrefly(stdout: str) -> Iterable[Finding]:
    for diagnostic in json.loads(stdout)["errors"]:
        yield Finding(diagnostic["path"], diagnostic["line"], diagnostic["description"])


# The plugin has hooks for calls alone, so a call in the other folder is checked as if no plugin were there.
_PLUGIN_IN_ONE_FOLDER = """
from mcpcore.mypy import plugin as entry_point

def plugin(version):
    class Limited(entry_point(version)):
        def get_function_hook(self, fullname):
            return limited(super().get_function_hook(fullname))

        def get_method_hook(self, fullname):
            return limited(super().get_method_hook(fullname))

        def get_method_signature_hook(self, fullname):
            return limited(super().get_method_signature_hook(fullname), "default_signature")

    return Limited

def limited(hook, otherwise="default_return_type"):
    return hook and (lambda ctx: hook(ctx) if ctx.api.tree.fullname.startswith("plugin.") else getattr(ctx, otherwise))
"""


# Libraries of which no case has a type are skipped: to read them takes 4 s of 11 s.
_SETTINGS = """
[mypy]
strict = true
plugins = limited.py
[mypy-beartype.*,cryptography.*,dns.*,hypothesis.*,joserfc.*,jsonschema_path.*,key_value.*,markdown_it.*,numpy.*]
follow_imports = skip
[mypy-openapi_pydantic.*,requests.*,rich.*,trio.*,urllib3.*,websockets.*,yaml.*]
follow_imports = skip
"""


def by_mypy(folder: Path) -> dict[str, list[Finding]]:
    """Return what mypy says without the plugin and with it: one run checks two copies, as reading the libraries takes longest."""
    (folder / "settings.ini").write_text(_SETTINGS, encoding="utf-8")
    (folder / "limited.py").write_text(_PLUGIN_IN_ONE_FOLDER, encoding="utf-8")
    for name in ("plain", "plugin"):
        shutil.copytree(CASES, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / name / "__init__.py").touch()
    # To free all memory at exit takes as long as the checks do; only coverage, which measures the plugin, needs such an exit.
    slow = ["--no-fast-exit"] if "COVERAGE_PROCESS_CONFIG" in os.environ else []
    # The cache is not warm, which would hide what a first user sees; it is written, since mypy then stores the types of the plugin.
    options = [*slow, "--config-file", "settings.ini", "--output", "json", "--cache-dir", "cache"]
    findings = _run([sys.executable, "-m", "mypy", *options, "plain", "plugin"], folder, _mypy)
    plain = [finding for finding in findings if Path(finding.file).parent.name == "plain"]
    return {"mypy": plain, "plugin": [finding for finding in findings if finding not in plain]}


_BASED_SETTINGS = {"pythonVersion": "3.11", **dict.fromkeys(_STYLE, False)}

CHECKERS = (
    Checker(
        "pyright",
        lambda _: [_script("pyright"), "-p", "pyright.json", "--pythonpath", sys.executable, "--outputjson"],
        _pyright,
        ("pyright.json", json.dumps({"typeCheckingMode": "strict", "pythonVersion": "3.11"})),
    ),
    Checker(
        "basedpyright",
        lambda _: [_script("basedpyright"), "-p", "based.json", "--pythonpath", sys.executable, "--outputjson"],
        _pyright,
        ("based.json", json.dumps(_BASED_SETTINGS)),
    ),
    Checker(
        "ty",
        lambda files: [_script("ty"), "check", "--python", sys.prefix, "--output-format", "gitlab", *files],
        _ty,
    ),
    Checker(
        "pyrefly",
        lambda files: [
            _script("pyrefly"),
            "check",
            "--preset",
            "strict",
            "--python-interpreter-path",
            sys.executable,
            "--output-format",
            "json",
            *files,
        ],
        _pyrefly,
    ),
)
OTHERS = {checker.name: checker for checker in CHECKERS}
FIVE = ("mypy", *OTHERS)


def expected(checker: str) -> dict[tuple[str, int], str]:
    """Where `checker` must complain, and why, as the comments of the cases say."""
    places = {}
    for path in sorted(CASES.glob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if (match := EXPECTED.search(line)) is not None:
                named = set(match["checkers"].split())
                unknown = named - {*FIVE, "plugin", "all"}
                assert not unknown, f"{path.name}:{number} names {sorted(unknown)}, which are no checkers"
                # The plugin adds to what mypy says.
                if named & {checker, "all"} or (checker == "plugin" and "mypy" in named):
                    places[path.name, number] = match["why"]
    return places


FILES = sorted(path.name for path in CASES.glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("checkers", [("mypy", "plugin"), *((name,) for name in OTHERS)], ids=" and ".join)
def test_a_checker_complains_where_the_cases_say_and_nowhere_else(checkers: tuple[str, ...], tmp_path: Path) -> None:
    """Each line that must fail does, and valid programs give no diagnostic."""
    if other := OTHERS.get(checkers[0]):
        for name in FILES:
            shutil.copy(CASES / name, tmp_path)
        findings = {other.name: other.run(tmp_path, FILES)}
    else:
        findings = by_mypy(tmp_path)
    problems = []
    for checker in checkers:
        due, places = expected(checker), {finding.place for finding in findings[checker]}
        problems += [
            f"{checker} reports a valid line: {Path(finding.file).name}:{finding.line}: {finding.message}"
            for finding in findings[checker]
            if finding.place not in due
        ]
        problems += [
            f"{checker} says nothing of {file}:{line}: {due[file, line]}" for file, line in due.keys() - places
        ]
    assert not problems, "\n".join(sorted(problems))


@pytest.mark.parametrize(
    ("why", "least", "checkers"),
    [
        # In functions, methods, closures and constants.
        ("misspelt reason", 8, FIVE),
        # A context that names it; mypy reports it with the plugin alone.
        ("undeclared reason", 5, ("pyright", "basedpyright", "plugin")),
        # For models, TypedDicts and dataclasses.
        ("data of another model", 5, FIVE),
        ("the data is missing", 4, FIVE),
        # For `ctx.fail`, `ctx.recovery_for` and `ctx.guard`; mypy needs the plugin.
        ("undeclared mode", 3, ("plugin", *OTHERS)),
        # A caller that has the contract of a tool must handle each of its reasons.
        ("a reason is missing", 1, FIVE),
    ],
)
def test_each_kind_of_error_is_among_the_cases(why: str, least: int, checkers: tuple[str, ...]) -> None:
    """Every checker that can find it does, wherever it may stand."""
    for checker in checkers:
        assert [*expected(checker).values()].count(why) >= least, checker
