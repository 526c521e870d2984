"""`mcpcore new`: a project with a server, its contracts, its tests and what runs them.

The folder `project` next to this module is a working project with the name `sample-server`. A new project is a copy of
it under another name.
"""

from __future__ import annotations

import errno
import importlib.metadata
import keyword
import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

import click

from mcpcore.cli import output
from mcpcore.cli.problems import Problem

_TEMPLATE: Final = Path(__file__).parent / "project"
_NAME: Final = "sample-server"
_PACKAGE: Final = "sample_server"
_ON_FASTMCP: Final = {
    '"mcpcore>=': '"mcpcore[fastmcp]>=',
    "from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, tool\n": (
        "from fastmcp import FastMCP\nfrom mcpcore import Context, ErrorCode, FailureMode, Retry, tool\n"
        "from mcpcore.integrations.fastmcp import ContractMiddleware\n"
    ),
    "\nlibrary = Library()\n": (
        f'\nlibrary = Library()\nserver: FastMCP[None] = FastMCP("{_NAME}")\n'
        "server.add_middleware(ContractMiddleware())\n"
    ),
    '@tool(\n    title="Find books",\n': '@server.tool(title="Find books")\n@tool(\n',
    '@tool(\n    title="Borrow a book",\n': '@server.tool(title="Borrow a book")\n@tool(\n',
    f'server = Server("{_NAME}", tools=[find_books, borrow_book])\n\n': "",
}
"""The texts of the template that a server on FastMCP has in another form."""

_HIDDEN: Final = frozenset({"dockerignore", "github", "gitignore"})
"""Their names begin with a dot in a project; here the dot would hide them from the build of mcpcore."""

_TAKEN: Final = frozenset(
    {"fastmcp", "mcp", "mcp_types", "mcpcore", "mcpcore_lint", "pydantic", "src", "test", "tests"}
)
"""Packages that the project imports, and folders that it has."""


@click.command(
    epilog="""\b
  mcpcore new book-desk                  a project in ./book-desk, on the MCP SDK
  mcpcore new book-desk --fastmcp        the same on FastMCP
  mcpcore new servers/book-desk          in another folder"""
)
@click.argument("name", type=click.Path(path_type=Path))
@click.option("--fastmcp", is_flag=True, help="Build the server with FastMCP instead of the SDK.")
def new(name: Path, *, fastmcp: bool) -> None:
    """Make the project NAME: two tools with contracts, tests, lint, CI and a Dockerfile.

    NAME is the folder to make; its last part names the project. `make test` and `make call` work in it immediately.
    """
    try:
        target = name.resolve()
        package = package_of(target.name if name.name in ("", "..") else name.name)
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            if target == Path.cwd():
                raise Problem("the current folder is not empty.", hint="choose a name: mcpcore new book-desk")
            raise Problem(f"{name} exists already.", hint="choose another name, or remove it")
        _write(target, project=target.name, package=package, fastmcp=fastmcp)
    except (OSError, RuntimeError) as error:  # until Python 3.13, links in a circle are a RuntimeError
        reason = getattr(error, "strerror", None) or os.strerror(errno.ELOOP)
        raise Problem(f"{name} cannot be written: {reason}.", hint="choose another folder") from error
    output.line(f"Made {target.name}. Next:")
    if target != Path.cwd():
        output.line(f"  cd {shlex.quote(str(name))}")
    output.line("  make test   # lint, types, tests and reason coverage")
    output.line("  make call   # a failed call, as an agent sees it")
    output.line("While no package index has mcpcore, set PIP_FIND_LINKS to a folder with its wheel for both.")


def package_of(name: str) -> str:
    """The name of the Python package for the project `name`.

    Raises:
        Problem: `name` is not the name of a project, or its package would hide another.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*([._-][A-Za-z0-9]+)*", name):
        raise Problem(
            f"{name!r} cannot be the name of a project.",
            hint="begin with a letter, and use letters, digits and single hyphens, such as book-desk",
        )
    package = re.sub("[.-]", "_", name.lower())
    if package in _TAKEN or package in sys.stdlib_module_names or keyword.iskeyword(package) or _is_installed(package):
        raise Problem(
            f"{name!r} cannot be the name of a project: Python, the project or a library uses {package}.",
            hint=f"choose another name, such as {name}-server",
        )
    return package


def _is_installed(package: str) -> bool:
    """Whether an installed library has the name, or a package of that name, which the project would hide."""
    names = importlib.metadata.packages_distributions()
    return any(package == re.sub("[.-]", "_", name.lower()) for item in names.items() for name in (item[0], *item[1]))


def _write(target: Path, *, project: str, package: str, fastmcp: bool) -> None:
    """Write the project next to `target` and move it there, so that a failure leaves no half of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as folder:
        made = Path(folder) / target.name
        for source in sorted(_TEMPLATE.rglob("*")):
            # Installing mcpcore may have compiled the template.
            if source.is_file() and "__pycache__" not in source.parts:
                place = made / _place(source.relative_to(_TEMPLATE), package)
                place.parent.mkdir(parents=True, exist_ok=True)
                text = source.read_text(encoding="utf-8")
                for ours, theirs in _ON_FASTMCP.items() if fastmcp else ():
                    text = text.replace(ours, theirs)
                text = text.replace(_NAME, project).replace(_PACKAGE, package)
                place.write_text(text, encoding="utf-8", newline="\n")
        # A temporary folder admits its owner alone.
        shutil.copymode(target.parent, made)
        if target.exists():  # empty; a shell may be in it, so that it must stay the same folder
            for path in made.iterdir():
                path.replace(target / path.name)
        else:
            made.replace(target)


def _place(path: Path, package: str) -> Path:
    first, *rest = path.parts
    first = f".{first}" if first in _HIDDEN else first
    return Path(first, *(package if part == _PACKAGE else part for part in rest))
