"""Exceptions of other functions that leave a tool: none loses its text without a line of the report."""

from __future__ import annotations

import re
from pathlib import Path

from mcpcore_lint.runner.migrate import migrate

from tests.migrate.migrating import report, run

ERRORS = '''
class SectionNotFoundError(Exception):
    pass


class AlreadyExistsError(Exception):
    """Raised when the document is made by a colleague."""


class StoreError(Exception):
    pass
'''
HELPERS = """
from fastmcp.exceptions import ToolError

from pkg.errors import StoreError, AlreadyExistsError, SectionNotFoundError


def find(name: str, known: list[str]) -> str:
    if name not in known:
        raise SectionNotFoundError(f"No matching sections were found: {name}. Available: {', '.join(known)}")
    return name


def edit(name: str) -> str:
    if name == "a":
        raise AlreadyExistsError(f"{name} belongs to Ann")
    if name == "b":
        raise AlreadyExistsError("Nobody may write")
    if name == "c":
        raise StoreError(f"Store error: {name}")
    if name == "d":
        raise ToolError("Not today")
    if name == "e":
        raise ValueError("The name is too long")
    return find(name, [])


def guarded(name: str) -> str:
    try:
        return edit(name)
    except StoreError:
        raise
"""
SERVER = """
from fastmcp import FastMCP

from pkg.helpers import edit, find, guarded

mcp = FastMCP("docs")


@mcp.tool
def section(name: str) -> str:
    '''Get a section.'''
    return find(name, ["a"])


@mcp.tool
def change(name: str) -> str:
    '''Change a section.'''
    return guarded(name)

"""
FILES: dict[str, str | bytes] = {
    "pkg/__init__.py": "",
    "pkg/errors.py": ERRORS,
    "pkg/helpers.py": HELPERS,
    "pkg/server.py": SERVER,
}


def test_exceptions_of_helpers_are_listed(tmp_path: Path) -> None:
    """Each text has a line with its tools, and the files of the helpers are unchanged."""
    outcome, files = run(tmp_path, FILES)
    declare = "declare it with .on(...), if clients need its code or advice"
    own = f"of a helper is in no contract: {declare}"
    step = f"of a helper is in no contract: raise a class of your own there, and {declare}"
    assert [
        f'helpers.py:9 section, change: SectionNotFoundError("No matching sections were found: …. Available: …") {own}',
        f'helpers.py:15 change: AlreadyExistsError("… belongs to Ann") {own}',
        f'helpers.py:17 change: AlreadyExistsError("Nobody may write") {own}',
        f'helpers.py:19 change: StoreError("Store error: …") {own}',
        f'helpers.py:21 change: ToolError("Not today") {step}',
        f'helpers.py:23 change: ValueError("The name is too long") {step}',
    ] == report(outcome)
    assert files["pkg/helpers.py"] == HELPERS
    again, _ = run(tmp_path, {})
    assert () == again.files
    assert report(outcome) == report(again)


def test_a_tool_that_cannot_be_converted_gets_the_lines(tmp_path: Path) -> None:
    """One says why it can have no contract."""
    source = SERVER.replace("def section(name: str)", "def section(*name: str)").replace(
        "find(name, [", "find(name[0], ["
    )
    outcome, _ = run(tmp_path, {**FILES, "pkg/server.py": source})
    assert any("helpers.py:9 section, change: SectionNotFoundError" in line for line in report(outcome))
    assert any("section: the tool takes any arguments" in line for line in report(outcome))


def test_imports_start_from_the_folder_of_the_project_too(tmp_path: Path) -> None:
    """Somebody may have made that folder a package."""
    outcome, _ = run(tmp_path, {**FILES, "__init__.py": ""})
    assert any("section, change: SectionNotFoundError(" in line for line in report(outcome))


def test_what_the_tool_handles_has_no_line(tmp_path: Path) -> None:
    """Its clause catches what the helper raises, so clients never read the text."""
    source = """from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from mcpcore.integrations.fastmcp import ContractMiddleware
from pkg.errors import AlreadyExistsError, SectionNotFoundError, StoreError
from pkg.helpers import edit

mcp = FastMCP("docs", middleware=[ContractMiddleware(expose_internal_errors="message")])


@mcp.tool
def handled(name: str) -> str:
    '''Handle what a helper raises.'''
    try:
        return edit(name)
    except (AlreadyExistsError, StoreError, ToolError, ValueError, SectionNotFoundError):
        return name
"""
    outcome, files = run(tmp_path, {**FILES, "pkg/server.py": source})
    assert ((), source) == (outcome.left, files["pkg/server.py"])


def test_only_other_rules_follow_no_calls(tmp_path: Path) -> None:
    """`--only raise` says nothing about helpers."""
    run(tmp_path, FILES, write=False)
    assert () == migrate([str(tmp_path)], rules=("raise",)).left


def test_a_result_with_a_field_error_is_named(tmp_path: Path) -> None:
    """The tool gets no contract, with which its file could not be imported, and the report says which field is why."""
    source = SERVER.replace("mcp = FastMCP", "class Found(TypedDict):\n    error: str\n\n\nmcp = FastMCP").replace(
        "def section(name: str) -> str:", "def section(name: str) -> Found:"
    )
    outcome, files = run(tmp_path, {**FILES, "pkg/server.py": f"from typing import TypedDict\n{source}"})
    assert any("section: the field error of the result Found" in line for line in report(outcome))
    assert "FailureMode" not in files["pkg/server.py"]


def test_a_text_that_is_no_first_argument_is_listed(tmp_path: Path) -> None:
    """The class of a library may take its text by keyword, or behind a status."""
    source = """from fastapi import HTTPException
from fastmcp import FastMCP
from mcpcore.integrations.fastmcp import ContractMiddleware

mcp = FastMCP("docs", middleware=[ContractMiddleware(expose_internal_errors="message")])


def find(name: str) -> str:
    if name == "a":
        raise HTTPException(status_code=404, detail=f"There is no {name}")
    raise HTTPException(400, "The name is wrong")


@mcp.tool
def section(name: str) -> str:
    '''Get a section.'''
    return find(name)
"""
    outcome, _ = run(tmp_path, {"server.py": source})
    assert [
        'server.py:10 section: HTTPException("There is no …") of a helper',
        'server.py:11 section: HTTPException("The name is wrong") of a helper',
    ] == [line.partition(" is in")[0] for line in report(outcome)]


def test_a_class_of_python_around_another_exception_has_no_code_of_its_own(tmp_path: Path) -> None:
    """A ValueError that hands on the text of any exception is about no argument; one with another text may be."""
    clause = "    try:\n        return open(name).read()\n    except Exception as e:\n"
    helper = f'{clause}        raise ValueError(f"Error reading the symbols of {{name}}: {{e}}") from e\n'
    server = f"""
from fastmcp import FastMCP

mcp = FastMCP("a")


def read(name: str) -> str:
{helper}

@mcp.tool()
def first(name: str) -> str:
    return read(name)


@mcp.tool()
def second(name: str) -> str:
    if name == "c":
        raise ValueError(f"The name {{name}} is empty")
{clause}        audit(e)
        raise ValueError(f"Error extracting symbols: {{e}}") from e
"""
    outcome, files = run(tmp_path, {"server.py": server})
    assert ["VALIDATION_ERROR"] == re.findall(r"ErrorCode\.(VALIDATION_ERROR)", files["server.py"])
    assert any("Error reading the symbols of" in left.pattern for left in outcome.left)
