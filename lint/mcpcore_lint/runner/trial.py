"""Tries what a migration wrote: imports the files in a child process, and runs a command of the project."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.project import Project
from mcpcore_lint.engine.syntax.source import SourceError
from mcpcore_lint.migrate.callers import is_test
from mcpcore_lint.migrate.documents import DOCUMENT
from mcpcore_lint.migrate.model import Left, stopped
from mcpcore_lint.migrate.requirements import LOCKS, package
from mcpcore_lint.migrate.starting import Starting
from mcpcore_lint.records import in_test_file
from mcpcore_lint.runner.files import content_of
from mcpcore_lint.runner.outcome import Ran, Tried

_SCRIPT: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "looking.py")
_TIMEOUT: Final = 120
_GRACE: Final = 8
"""How many seconds a server may take to end when the command is interrupted."""
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

    def start(self, program: Program) -> str:
        """Start a server of the project over stdio as a client does; how that ended."""
        answer, why = self._ask(["start", program.arguments, [program.folder, program.root]], program.root)
        why = why or answer["why"]
        return f"no list of tools: {why}" if why else f"it lists {answer['tools']} tool{'s' * (answer['tools'] != 1)}"

    def _ask(self, task: Sequence[object], root: str | None = None) -> tuple[Any, str]:
        """The answer of the interpreter to a task, and else the reason."""
        # Without `-B`, Python would write bytecode into the user's folders.
        command = [self.python, "-B", _SCRIPT, json.dumps(task)]
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        try:
            with subprocess.Popen(command, cwd=root, stdin=nothing, stdout=pipe, stderr=nothing) as process:  # noqa: S603 - the user's interpreter
                try:
                    return json.loads(process.communicate(timeout=_TIMEOUT)[0]), ""
                except KeyboardInterrupt:
                    # The child is interrupted, too. It first ends the server, which is in another session.
                    with suppress(subprocess.TimeoutExpired):
                        process.communicate(timeout=_GRACE)
                    raise
                finally:
                    process.kill()
        except subprocess.TimeoutExpired:
            return None, f"the {task[0]} took more than {_TIMEOUT} seconds"
        except (OSError, ValueError):
            return None, f"{self.python} did not run"

    def missing(self, paths: Collection[str], shown: Callable[[str], str], reported: Iterable[Left]) -> list[Left]:
        """A line for each name of a framework that files import and the installed release does not have.

        Args:
            paths: The files; of those that list dependencies, the packages that ask for earlier releases have lines.
            shown: How the report spells a path.
            reported: The lines of the report so far, which get no second one.
        """
        code = [path for path in paths if path.endswith(".py")]
        texts = {path: (content_of(path) or b"").decode("utf-8", "replace") for path in paths}
        answer, why = self._ask(["look up", *code])
        if why:
            return []
        known = {(line.path, line.line) for line in reported}
        left = [
            Left(shown(path), line, (), f"the import of {name}", f"the installed {module.partition('.')[0]} has no "
                 f"{module}.{name}", stops=0 if in_test_file(shown(path)) else stopped(ast.parse(texts[path]), line))
            for path, line, module, name in answer["missing"]
            if (shown(path), line) not in known
        ]  # fmt: skip
        # The environment may hold the project itself, with the requirements that it had.
        named = [name for path, text in texts.items() if path.endswith(_PROJECT) for name in _NAME.findall(text)]
        own = {"mcp", "fastmcp", *map(package, named)}
        for path, text in ((path, texts[path]) for path in {*paths} - {*code} if not DOCUMENT.search(path)):
            for name, wanted in answer["asking"] if not path.endswith(LOCKS) else ():
                spelled = re.search(rf"(?<![\w.-]){re.sub('[-_.]', '[-_.]', name)}(?![\w.-])", text, re.IGNORECASE)
                if spelled is not None and package(name) not in own:
                    line = text.count("\n", 0, spelled.start()) + 1
                    decide = f"it asks for {wanted}, so take a release of it that does not, or leave it out"
                    left.append(Left(shown(path), line, (), f"the dependency {name}", decide))
            strictest: dict[int, Left] = {}
            # The strictest requirement comes last, and replaces the others of a pin.
            for framework, name, least in sorted(answer["needs"], key=lambda need: _numbers(need[2])):
                pin = re.search(_PIN % re.sub("[-_.]", "[-_.]", name), text, re.MULTILINE | re.IGNORECASE)
                if (
                    pin
                    and re.search(rf"^[^#\n]*(?<![\w.-])(?:fast)?{framework}(?![\w.-])", text, re.MULTILINE)
                    and (_numbers(pin[3]), pin[2] != "<") <= (_numbers(least), False)
                ):
                    decide = f"the installed {framework} needs {name} {least} or later"
                    line = text.count("\n", 0, pin.end()) + 1
                    strictest[pin.start(1)] = Left(shown(path), line, (), f"the pin {pin[1]}", decide)
            left += strictest.values()
        return left

    def run(self) -> Ran | None:
        """Run the command; None without one."""
        if not self.check:
            return None
        folder = os.path.dirname(os.path.abspath(self.python))
        # `pytest` in the command is then the one of the environment.
        environment = {**os.environ, "PATH": os.pathsep.join([folder, os.environ.get("PATH", "")])}
        ran = subprocess.run(  # noqa: S602 - the user's own command
            self.check, shell=True, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        lines = ran.stdout.decode(errors="replace").splitlines()
        return Ran(ran.returncode, [line.rstrip() for line in lines if line.strip()])


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


class Experiment:
    """The state before the files are written."""

    def __init__(self, trial: Trial, paths: Collection[str], root: str) -> None:
        """Import the files and what users start, and run the command."""
        self._trial = trial
        self._paths = paths
        self._tried = [*dict.fromkeys([*paths, *(path for _, path, _ in _scripts(root))])]
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
        # Again after each round, since a file that is put back may lack what others import from it by now.
        while True:
            after = self._trial.imports(self._tried, self._root)
            lacking = after.lacking
            # The file that raised is put back, which may be another one than the file that was imported.
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
        failed = after.failed.items() if not untried else ()
        broken = [(path, problem.why) for path, problem in failed if path not in lacking]
        runs = (self._ran, ran) if ran is not None and self._ran is not None else ()
        # A command that failed before says nothing about the migration.
        worse = ran is not None and self._ran is not None and ran.code != 0 == self._ran.code
        missing = lacking.items() if not untried else ()
        return Tried(untried, (*undone.items(),), (*broken,), after.tools, runs, lacking=(*missing,), worse=worse)


def _scripts(root: str) -> list[tuple[str, str, str]]:
    """The scripts of a project, each with the path of the file that it starts, and the function."""
    try:
        table = tomllib.loads((content_of(os.path.join(root, "pyproject.toml")) or b"").decode())
        scripts = {
            **table.get("tool", {}).get("poetry", {}).get("scripts", {}),
            **table.get("project", {}).get("scripts", {}),
        }
        named = [(script, *str(target).partition("[")[0].strip().split(":")) for script, target in scripts.items()]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return []
    return [
        (name[0], path, name[2])
        for name in named
        if len(name) == 3
        for folder in (root, os.path.join(root, "src"))
        for end in (".py", f"{os.sep}__init__.py")
        if os.path.isfile(path := os.path.join(folder, *name[1].split(".")) + end)
    ]


class Program(NamedTuple):
    """What starts a server over stdio."""

    root: str
    """The folder of the project."""
    folder: str
    """The folder that its imports start from."""
    arguments: list[str]
    """The arguments of Python."""


def programs(modules: Mapping[str, Module], project: Project, shown: Callable[[str], str]) -> dict[str, Program]:
    """What starts the servers of a project over stdio, by its name: the scripts, or else files."""
    scripts, files, starting = dict[str, Program](), dict[str, Program](), Starting()
    for script, path, function in _scripts(project.root):
        with suppress(SourceError, OSError):
            module = project.read(path)
            module.complete()
            if starting.by_function(module, function):
                folder, name = _module(path, project.root)
                # The function may be a method of the server, such as `mcp.run`, which no import statement can name.
                start = f"importlib.import_module({name!r}).{function}"
                code = f"import importlib, sys; sys.argv = [{script!r}]; sys.exit({start}())"
                scripts[script] = Program(project.root, folder, ["-c", code])
    for path, module in modules.items():
        if not is_test(module) and starting.by_file(module):
            folder, name = _module(path, project.root)
            files[shown(path)] = Program(project.root, folder, ["-m", name])
    return scripts or files


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
