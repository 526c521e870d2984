"""The rules of `mcpcore migrate`, and the records that its parts exchange."""

import ast
import re
from collections.abc import Iterable
from typing import Final, NamedTuple

RULES: Final = {
    "server": "rename what version 2 of the SDK calls differently, and make the SDK's FastMCP an mcpcore Server",
    "raise": "`raise ValueError(...)` and other built-in exceptions",
    "rethrow": "`except X as e: raise RuntimeError(...)`",
    "tool-error": "`raise ToolError(...)`",
    "project-error": "`raise` of an exception class of the project",
    "helper": "exceptions that other functions raise: a line of the report for each",
    "mapping": '`return {"error": ...}`',
    "json": '`return json.dumps({"error": ...})`',
    "model": '`return Answer(status="error", message=...)` of a class of the project',
    "text": '`return "Error ..."`',
    "result": "`return CallToolResult(isError=True, ...)` with one text",
}
"""The rules that `--only` takes, each with what it converts."""


KEEPS, STOPS, FAILS = 1, 2, 3
"""A line is about a handler that keeps version 1, an import that fails, or code that fails when it is run."""
_ABSENT: Final = r"None|.*\b(?:(?:Base)?Exception|(?:%s)Error)\b.*"
_ABSENCE: Final = re.compile(_ABSENT % "Attribute|Type")
_NO_IMPORT: Final = re.compile(_ABSENT % "Import|ModuleNotFound")
"""What a clause catches if it answers for a name that is not there."""
_PROTECTS: Final = re.compile(r"\bfrom (?:fast)?mcp\.server\.auth\b|\.settings\.")
"""What a server may need to ask for a token, or to be reached from elsewhere: it is not as before without it."""


class Left(NamedTuple):
    """A place that somebody has to decide about."""

    path: str
    """As the run displays it."""
    line: int
    tools: tuple[str, ...]
    pattern: str
    decide: str
    perhaps: bool = False
    """Whether it may be no failure of the tool at all."""
    stops: int = 0
    """`KEEPS`, `STOPS` or `FAILS`; 0 if the server works without it."""

    def text(self, path: str, line: int | str) -> str:
        """The line of the report: the place, the tools if it is about tools, what was found, and what to do."""
        return f"{self.place(path, line)}: {self.pattern}: {self.decide}"

    def place(self, path: str, line: int | str) -> str:
        """The beginning of that line: the place, and the tools if it is about tools."""
        names = ", ".join(self.tools[:3]) + (f" and {len(self.tools) - 3} more" if len(self.tools) > 3 else "")
        return f"{path}:{line}{names and ' '}{names}"


def stopped(tree: ast.AST, line: int) -> int:
    """What cannot go on if a name in a line is not there: `STOPS` or `FAILS`; 0 if a clause answers for it.

    No clause answers for the settings and the authentication of a server, which goes on without them.
    """
    parts = [part for part in ast.walk(tree) if getattr(part, "lineno", line + 1) <= line <= part.end_lineno]  # type: ignore[attr-defined]
    absence = _NO_IMPORT if any(isinstance(part, (ast.Import, ast.ImportFrom)) for part in parts) else _ABSENCE
    clauses = [
        clause
        for part in parts
        if isinstance(part, ast.Try) and line <= (part.body[-1].end_lineno or line)
        for clause in part.handlers
        if not any(isinstance(inner, ast.Raise) or _is_exit(inner) for inner in ast.walk(clause))
    ]
    if any(absence.fullmatch(ast.unparse(clause.type) if clause.type else "None") for clause in clauses):
        named = [ast.unparse(part) for part in parts if isinstance(part, (ast.Attribute, ast.ImportFrom))]
        return FAILS if any(map(_PROTECTS.search, named)) else 0
    return FAILS if any(isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) for part in parts) else STOPS


def _is_exit(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in {"exit", "quit", "_exit"}


class Place(NamedTuple):
    """A statement that says that a tool failed, and how `ctx.fail` says the same."""

    node: ast.Raise | ast.Return
    rule: str
    message: ast.expr | None
    """The expression of the message; None if the failure has none."""
    raised: str = ""
    """The class that it raises by its qualified name; empty for a `return`."""
    call: ast.Call | None = None
    """The call of the exception class, if its only argument is the message."""
    hint: str = ""
    """A constant that names the failure better than the message does, such as an error code."""
    arguments: tuple[str, ...] = ()
    """Further arguments of `ctx.fail`, as code."""


class Entry(NamedTuple):
    """A failure mode to be declared."""

    reason: str
    code: str
    when: str
    recovery: str = ""
    """The advice in the message; empty if it is still to be written."""


def merged(left: Iterable[Left]) -> list[Left]:
    """One entry for each place and pattern, with the names of all its tools, in the order of the files."""
    tools: dict[Left, list[str]] = {}
    for remaining in left:
        names = tools.setdefault(remaining._replace(tools=()), [])
        names += [tool for tool in remaining.tools if tool not in names]
    return sorted(
        (key._replace(tools=tuple(names)) for key, names in tools.items()), key=lambda remaining: remaining[:2]
    )
