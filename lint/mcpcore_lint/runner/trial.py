"""Tries what a migration wrote: imports the files in a child process, and runs a command of the project."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mcpcore_lint.diagnostics import Failure
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.migrate.callers import is_test
from mcpcore_lint.migrate.model import Left, stopped
from mcpcore_lint.migrate.options import started_by, starts
from mcpcore_lint.migrate.requirements import LOCKS
from mcpcore_lint.records import in_test_file
from mcpcore_lint.runner.files import content_of
from mcpcore_lint.runner.patch import FixedFile

_SCRIPT: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "looking.py")
_TIMEOUT: Final = 120
_LINES: Final = 20
"""How many new lines of a command are shown."""
_CAUSES, _WIDTH = 10, 200
"""How many errors of tests are shown, and how much of each."""
_BAD_TEST: Final = re.compile(r"FAILED|FAIL:|ERROR: \S+ \(|ERROR \S+(?:::|\.py(?: - |$))")
"""A line of pytest or unittest about a test, which a line of a log is not."""
_REPORT: Final = re.compile(r"^_{3,} .+ _{3,}$", re.MULTILINE)
"""The line of pytest above what it says about a test that failed."""
_ERROR: Final = re.compile(r"^E +(\S.*)(?:\nE .*)*", re.MULTILINE)
_ENTRY: Final = re.compile(r"^[\"']?([\w.-]+)[\"']?\s*=\s*[\"']([\w.]+):(\w+)[\"']", re.MULTILINE)
"""A script of a project: what its users start."""

_PIN: Final = (
    r"^[^#\n]*?(?<![\w.-])(%s(?![\w.-])(?:\[[^\]\n]*\])?[ \t\d.,<>=~!*()]*?(<=?|==)[ \t]*([\d.]*\d)(?![\w.*]))"
)
"""A requirement of a package that leaves out later versions."""
_PROJECT: Final = ("pyproject.toml", "setup.cfg", "setup.py")
_NAME: Final = re.compile(r"^\s*name\s*=\s*[\"']?([\w.-]+)[\"']?,?\s*$", re.MULTILINE)
"""The name of a project in one of these."""


class Trial(NamedTuple):
    """How to try what was written."""

    python: str
    """The interpreter."""
    check: str = ""
    """A command of the project, such as its tests, or empty."""

    def imports(self, paths: Iterable[str], root: str) -> Imports:
        """Import the files of some paths, one child process for each folder that imports start from."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for path in paths:
            folder, name = _module(path, root)
            groups.setdefault(folder, []).append((path, name))
        failed: dict[str, Problem] = {}
        tools = 0
        for folder, modules in groups.items():
            answer, why = self._ask(
                ["import", [*dict.fromkeys([folder, root, os.path.join(root, "src")])], modules], root
            )
            if why:
                return Imports({}, 0, why)
            failed.update({path: Problem(**problem) for path, problem in answer["failed"].items()})
            tools += answer["tools"]
        return Imports(failed, tools)

    def start(self, folder: str, arguments: Sequence[str], root: str) -> str:
        """Start a server of the project over stdio as a client does; how that ended."""
        answer, why = self._ask(["start", arguments, [folder, root]], root)
        why = why or answer["why"]
        return f"no list of tools: {why}" if why else f"it lists {answer['tools']} tool{'s' * (answer['tools'] != 1)}"

    def _ask(self, task: Sequence[object], root: str | None = None) -> tuple[Any, str]:
        """The answer of the interpreter to a task, and else the reason."""
        command = [self.python, "-B", _SCRIPT, json.dumps(task)]
        try:
            ran = subprocess.run(  # noqa: S603 - the interpreter that the user named
                command, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT, check=False
            )
            return json.loads(ran.stdout), ""
        except subprocess.TimeoutExpired:
            return None, f"the {task[0]} took more than {_TIMEOUT} seconds"
        except (OSError, ValueError):
            return None, f"{self.python} did not run"

    def missing(self, paths: Collection[str], shown: Callable[[str], str], told: Iterable[Left]) -> list[Left]:
        """A line for each name of a framework that files import and the installed release does not have.

        Args:
            paths: The files; of those that list dependencies, the packages that ask for earlier releases have lines.
            shown: How the report spells a path.
            told: The lines of the report so far, which get no second one.
        """
        code = [path for path in paths if path.endswith(".py")]
        texts = {path: (content_of(path) or b"").decode("utf-8", "replace") for path in paths}
        answer, why = self._ask(["look up", *code])
        if why:
            return []
        known = {(line.path, line.line) for line in told}
        left = [
            Left(shown(path), line, (), f"the import of {name}", f"the installed {module.partition('.')[0]} has no "
                 f"{module}.{name}", stops=0 if in_test_file(shown(path)) else stopped(ast.parse(texts[path]), line))
            for path, line, module, name in answer["missing"]
            if (shown(path), line) not in known
        ]  # fmt: skip
        # The environment may hold the project itself, with the requirements that it had.
        named = [name for path, text in texts.items() if path.endswith(_PROJECT) for name in _NAME.findall(text)]
        own = {"mcp", "fastmcp", *map(_normal, named)}
        for path, text in ((path, texts[path]) for path in {*paths} - {*code}):
            for name, wanted in answer["asking"] if not path.endswith(LOCKS) else ():
                spelled = re.search(rf"(?<![\w.-]){re.sub('[-_.]', '[-_.]', name)}(?![\w.-])", text, re.IGNORECASE)
                if spelled is not None and _normal(name) not in own:
                    line = text.count("\n", 0, spelled.start()) + 1
                    decide = f"it asks for {wanted}, so take a release of it that does not, or leave it out"
                    left.append(Left(shown(path), line, (), f"the dependency {name}", decide))
            for framework, name, least in answer["needs"]:
                pin = re.search(_PIN % re.sub("[-_.]", "[-_.]", name), text, re.MULTILINE | re.IGNORECASE)
                if (
                    pin
                    and re.search(rf"^[^#\n]*(?<![\w.-])(?:fast)?{framework}(?![\w.-])", text, re.MULTILINE)
                    and (_numbers(pin[3]), pin[2] != "<") <= (_numbers(least), False)
                ):
                    decide = f"the installed {framework} needs {name} {least} or later"
                    left.append(Left(shown(path), text.count("\n", 0, pin.end()) + 1, (), f"the pin {pin[1]}", decide))
        return left

    def run(self) -> Ran | None:
        """Run the command; None without one."""
        if not self.check:
            return None
        folder = os.path.dirname(os.path.abspath(self.python))
        environment = {**os.environ, "PATH": os.pathsep.join([folder, os.environ.get("PATH", "")])}
        ran = subprocess.run(  # noqa: S602 - the user's own command
            self.check, shell=True, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        return Ran(
            ran.returncode, [line.rstrip() for line in ran.stdout.decode(errors="replace").splitlines() if line.strip()]
        )


class Problem(NamedTuple):
    """Why a file cannot be imported."""

    why: str
    missing: str | None
    """The module that is not installed."""
    at: str
    """The file that raised the exception."""


class Imports(NamedTuple):
    """The outcome of the imports."""

    failed: dict[str, Problem]
    tools: int
    untried: str = ""
    """Why the files could not be tried; empty if they could."""

    @property
    def lacking(self) -> dict[str, str]:
        """The files that need a module that the environment does not have, each with the reason."""
        return {
            path: f"the environment has no module {problem.missing}"
            for path, problem in self.failed.items()
            if problem.why.startswith("ModuleNotFoundError") and problem.missing and "." not in problem.missing
        }

    @property
    def unreadable(self) -> str:
        """Why the interpreter is no good for the project: its Python may be older than the syntax of a file."""
        errors = [problem.why for problem in self.failed.values() if problem.why.startswith("SyntaxError")]
        return f"the interpreter cannot read the files, {errors[0]}" if errors else ""


class Ran(NamedTuple):
    """The outcome of a command."""

    code: int
    lines: list[str]

    @property
    def causes(self) -> Counter[str]:
        """The errors that pytest shows, each with the number of tests that it ended."""
        reports = _REPORT.split("\n".join(self.lines))[1:]
        return Counter(errors[-1][:_WIDTH] for report in reports if (errors := _ERROR.findall(report)))

    def difference(self, before: Ran) -> list[str]:
        """The last lines of both runs, the errors of the tests that fail now, and new lines about failures."""
        old, earlier = set(before.lines), before.causes
        new = [line for line in self.lines if _BAD_TEST.match(line) and line not in old]
        ends = [
            f"{when}: {ran.lines[-1] if ran.lines else ''} (exit code {ran.code})"
            for when, ran in (("before", before), ("after", self))
        ]
        ends += [
            f"{number} test{'s' * (number > 1)} ({earlier[text]} before): {text}"
            for text, number in self.causes.most_common(_CAUSES)
        ]
        return [*ends, *new[:_LINES], *([f"and {len(new) - _LINES} more"] if len(new) > _LINES else [])]


class Tried(NamedTuple):
    """What came of trying the files."""

    untried: str = ""
    """Why nothing was tried; empty if something was."""
    undone: tuple[tuple[str, str], ...] = ()
    """The files that were put back, since they were imported before and could not be any more, each with the reason."""
    broken: tuple[tuple[str, str], ...] = ()
    """The files that cannot be imported, before and after, each with the reason."""
    tools: int = 0
    """How many tools the servers list."""
    check: tuple[str, ...] = ()
    """How the command ended before and after."""
    lacking: tuple[tuple[str, str], ...] = ()
    """The files that could not be tried, each with the reason."""
    started: tuple[tuple[str, str], ...] = ()
    """The servers that were started over stdio, each with how that ended."""
    worse: bool = False
    """Whether the command succeeded before and does not now."""


class Migration(NamedTuple):
    """The outcome of a run."""

    files: tuple[FixedFile, ...]
    """The files that change, by the paths that reports show."""
    left: tuple[Left, ...]
    """What is left; its lines are those of the files as they are after the run."""
    converted: tuple[tuple[str, str, int, str], ...]
    """The places that were converted: path, rule, line and tool."""
    failures: tuple[Failure, ...]
    tools: int
    removed: tuple[Left, ...] = ()
    """The clauses that caught everything and went, or raise again now, by their lines before the run."""
    tried: Tried | None = None
    """What came of importing the files, and of the command of the project; None if nothing was asked for."""
    parallel: tuple[str, ...] = ()
    """The functions of the server that version 2 runs in threads, as they are not async; "all" if none is known."""

    @property
    def exit_code(self) -> int:
        """0 if nothing is left to do, 1 if something is, 2 if a file could not be read or written."""
        tried = self.tried or Tried()
        return 2 if self.failures else int(bool(self.left or tried.undone or tried.broken or tried.worse))


class Experiment:
    """The state before the files are written."""

    def __init__(self, trial: Trial, paths: Collection[str], root: str) -> None:
        """Import the files and what users start, and run the command."""
        self._trial = trial
        self._paths = paths
        self._tried = [*dict.fromkeys([*paths, *_entry_points(root)])]
        self._root = root
        self._imports = trial.imports(self._tried, root)
        self._ran = trial.run()

    def outcome(self, restore: Callable[[str], None], together: Collection[str] = ()) -> Tried:
        """Import the written files, put back those that broke, and run the command again.

        Args:
            restore: Puts back a file.
            together: The files that are put back together.
        """
        undone: dict[str, str] = {}
        unreadable = self._imports.unreadable
        while True:
            after = self._trial.imports(self._tried, self._root)
            lacking = after.lacking
            broke = {
                problem.at: problem.why
                for path, problem in after.failed.items()
                if path not in {*self._imports.failed, *lacking}
                and problem.at in self._paths
                and problem.at not in undone
            }
            if unreadable or not broke:
                break
            for path in {*together} - {*broke, *undone} if not broke.keys().isdisjoint(together) else ():
                broke[path] = f"{os.path.basename(min(broke.keys() & {*together}))} could not"
            for path in broke:
                restore(path)
            undone.update(broke)
        ran = self._trial.run() if self._ran is not None else None
        nothing = next(iter(lacking.values()), "") if lacking.keys() >= {*self._paths} else ""
        untried = unreadable or after.untried or nothing
        broken = [
            (path, problem.why)
            for path, problem in (after.failed.items() if not untried else ())
            if path not in lacking
        ]
        return Tried(
            untried,
            (*undone.items(),),
            (*broken,),
            after.tools,
            (*(ran.difference(self._ran) if ran is not None and self._ran is not None else []),),
            (*lacking.items(),) * (not untried),
            worse=ran is not None and self._ran is not None and ran.code != 0 == self._ran.code,
        )


def _entry_points(root: str) -> list[str]:
    """The files of the functions that the scripts of a project call."""
    return [
        path
        for _, name, _ in _ENTRY.findall(
            (content_of(os.path.join(root, "pyproject.toml")) or b"").decode("utf-8", "replace")
        )
        for folder in (root, os.path.join(root, "src"))
        for end in (".py", f"{os.sep}__init__.py")
        if os.path.isfile(path := os.path.join(folder, *name.split(".")) + end)
    ]


def programs(modules: Mapping[str, Module], root: str, shown: Callable[[str], str]) -> dict[str, tuple[str, list[str]]]:
    """What starts a server over stdio, with the folder of imports and arguments of Python: scripts, or else files."""
    scripts, files = dict[str, tuple[str, list[str]]](), dict[str, tuple[str, list[str]]]()
    project = (content_of(os.path.join(root, "pyproject.toml")) or b"").decode("utf-8", "replace")
    for path, module in modules.items():
        folder, name = _module(path, root)
        for script, _, function in (entry for entry in _ENTRY.findall(project) if entry[1] == name):
            if starts([ast.parse(f"{function}()")], module, set()):
                # As an installed script, which does not see the current folder.
                code = f"import sys; sys.path.pop(0); sys.argv = [{script!r}]; from {name} import {function} as start"
                scripts[script] = folder, ["-c", f"{code}; sys.exit(start())"]
        if not is_test(module) and started_by(module):
            files[shown(path)] = folder, ["-m", name]
    return scripts or files


def _normal(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def _numbers(version: str) -> list[int]:
    return [*map(int, re.sub(r"(?:\.0+)+$", "", version).split("."))]


def interpreter(environment: str | None) -> str:
    """The interpreter of an environment: this one, a file, or that of the folder of an environment."""
    if environment is None:
        return sys.executable
    names = ("bin/python", "bin/python3", "Scripts/python.exe", ".venv/bin/python", ".venv/Scripts/python.exe")
    return next(filter(os.path.isfile, (os.path.join(environment, *name.split("/")) for name in names)), environment)


def _module(path: str, root: str) -> tuple[str, str]:
    """The folder that imports of a file start from, and the name of its module."""
    folder, filename = os.path.split(path)
    parts = [filename.removesuffix(".py")]
    while os.path.isfile(os.path.join(folder, "__init__.py")) and folder != root:
        folder, part = os.path.split(folder)
        parts.insert(0, part)
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return folder, ".".join(parts)
