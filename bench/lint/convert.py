"""Turn a copy of a public server into a server with contracts, so that the rules about contracts meet real code.

The conversion is mechanical and only has to be plausible: `FastMCP` becomes `Server`, each decorated tool declares the
same two failure modes, and each built-in exception or `ToolError` that the project raises becomes a coded error. The
linter reads the result; it is not meant to run.

Run `python -m bench.lint.convert SOURCE TARGET`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import Final

import libcst as cst
from libcst import matchers as m

FACTORIES: Final = {
    "ValueError": "invalid_params",
    "TypeError": "invalid_params",
    "KeyError": "not_found",
    "LookupError": "not_found",
    "FileNotFoundError": "not_found",
    "PermissionError": "forbidden",
    "TimeoutError": "timeout",
    "ConnectionError": "service_unavailable",
    "RuntimeError": "conflict",
    "Exception": "internal_error",
    "ToolError": "rate_limited",
}
"""The exception that the public code raises, and its replacement. `ToolError` gets a code that needs declaring."""

CONTRACT: Final = """[
    FailureMode(
        "not_found", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Call a listing tool to find a valid id."
    ),
    FailureMode(
        "denied", ErrorCode.FORBIDDEN, when="Access is denied.", recovery="Ask the user to grant access to it first."
    ),
]"""
IMPORT: Final = "from mcpcore import ErrorCode, FailureMode, Server, {}\n"


class Convert(cst.CSTTransformer):
    """Rewrites one file; `changed` says whether anything was converted."""

    def __init__(self) -> None:
        self.changed = False

    def leave_Raise(self, _: cst.Raise, updated_node: cst.Raise) -> cst.Raise:  # noqa: N802 - libcst finds it by this name
        call = updated_node.exc
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Name):
            return updated_node
        factory = FACTORIES.get(call.func.value)
        if factory is None or any(argument.keyword or argument.star for argument in call.args):
            return updated_node
        self.changed = True
        return updated_node.with_changes(exc=call.with_changes(func=cst.Name(factory), args=call.args[:1]))

    def leave_Call(self, _: cst.Call, updated_node: cst.Call) -> cst.Call:  # noqa: N802 - libcst finds it by this name
        if m.matches(updated_node.func, m.Name("FastMCP") | m.Name("MCPServer")):
            self.changed = True
            return updated_node.with_changes(func=cst.Name("Server"))
        return updated_node

    def leave_Decorator(self, _: cst.Decorator, updated_node: cst.Decorator) -> cst.Decorator:  # noqa: N802 - libcst finds it by this name
        decorator = updated_node.decorator
        call = decorator if isinstance(decorator, cst.Call) else cst.Call(decorator)
        if not m.matches(call.func, m.Attribute(value=m.Name(), attr=m.Name("tool"))):
            return updated_node
        self.changed = True
        errors = cst.Arg(cst.parse_expression(CONTRACT), keyword=cst.Name("errors"))
        return updated_node.with_changes(decorator=call.with_changes(args=[*call.args, errors]))


def convert(source: Path, target: Path) -> int:
    """Copy a tree and convert its Python files. Return how many files changed."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".git"))
    header = IMPORT.format(", ".join(sorted(set(FACTORIES.values()))))
    count = 0
    for path in sorted(target.rglob("*.py")):
        transformer = Convert()
        try:
            tree = cst.parse_module(path.read_bytes()).visit(transformer)
        except (cst.ParserSyntaxError, UnicodeDecodeError):
            continue  # templates and files for other versions of Python stay as they are
        if not transformer.changed:
            continue
        lines = tree.code.splitlines(keepends=True)
        # A `from __future__` import has to stay first, after the docstring.
        after = [number for number, line in enumerate(lines) if line.startswith("from __future__")]
        imported = [number for number, line in enumerate(lines) if line.startswith(("import ", "from "))]
        place = after[-1] + 1 if after else imported[0] if imported else 0
        path.write_text("".join([*lines[:place], header, *lines[place:]]), encoding="utf-8")
        count += 1
    return count


def main() -> None:
    """Convert the tree named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path, help="a folder that does not exist yet")
    arguments = parser.parse_args()
    count = convert(arguments.source, arguments.target)
    sys.stdout.write(f"{arguments.target}: {count} files converted\n")


if __name__ == "__main__":
    main()
