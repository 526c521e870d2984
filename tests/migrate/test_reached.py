"""Exceptions of other functions that leave a tool: none loses its text without `.on(...)` or a line of the report."""

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


def test_classes_with_one_sentence_are_mapped_and_the_others_are_listed(tmp_path: Path) -> None:
    """The class gets an import, several tools share a constant, and each other text has a line with its tools."""
    outcome, files = run(tmp_path, FILES)
    server = files["pkg/server.py"]
    compile(server, "server.py", "exec")
    assert "from pkg.errors import AlreadyExistsError, SectionNotFoundError\n" in server
    assert server.count('when="No matching sections were found."') == 1
    assert 'when="The document is made by a colleague."' in server
    assert server.count("NO_MATCHING_SECTIONS_WERE_FOUND.on(SectionNotFoundError, message=str)") == 2
    assert server.count(".on(AlreadyExistsError, message=str)") == 1
    step = "of a helper is in no contract: raise a class of your own there, and declare it with .on(...), if clients"
    assert [
        f'helpers.py:19 change: StoreError("Store error: …") {step} need its code or advice',
        f'helpers.py:21 change: ToolError("Not today") {step} need its code or advice',
        f'helpers.py:23 change: ValueError("The name is too long") {step} need its code or advice',
    ] == report(outcome)
    assert files["pkg/helpers.py"] == HELPERS
    again, _ = run(tmp_path, {})
    assert () == again.files
    assert report(outcome) == report(again)


def test_a_tool_that_cannot_be_converted_gets_the_lines(tmp_path: Path) -> None:
    """Without a contract, the class is not mapped."""
    source = SERVER.replace("def section(name: str)", "def section(*name: str)").replace(
        "find(name, [", "find(name[0], ["
    )
    outcome, files = run(tmp_path, {**FILES, "pkg/server.py": source})
    assert any("helpers.py:9 section: SectionNotFoundError" in line for line in report(outcome))
    assert "NO_MATCHING" not in files["pkg/server.py"]


def test_relative_imports_stay_relative(tmp_path: Path) -> None:
    """The class is imported as the file imports the rest of its package."""
    source = SERVER.replace("from pkg.helpers", "from ..helpers").replace("from fastmcp import", "from fastmcp import")
    files = {name: text for name, text in FILES.items() if name != "pkg/server.py"}
    _, after = run(tmp_path, {**files, "pkg/tools/__init__.py": "", "pkg/tools/server.py": source})
    assert "from ..errors import AlreadyExistsError, SectionNotFoundError\n" in after["pkg/tools/server.py"]


def test_imports_start_from_the_folder_of_the_project_too(tmp_path: Path) -> None:
    """Somebody may have made that folder a package."""
    outcome, _ = run(tmp_path, {**FILES, "__init__.py": ""})
    assert any("section, change: SectionNotFoundError(" in line for line in report(outcome))


def test_a_class_that_might_make_a_circle_of_imports_is_listed(tmp_path: Path) -> None:
    """The module of the class imports another one of the project, so it may import the tools."""
    outcome, files = run(tmp_path, {**FILES, "pkg/errors.py": f"import pkg.server\n{ERRORS}"})
    assert "pkg.errors" not in files["pkg/server.py"]
    assert any("SectionNotFoundError" in line for line in report(outcome))


def test_a_base_class_of_another_failure_is_not_mapped(tmp_path: Path) -> None:
    """Its mapping would take the subclass, for which the sentence is wrong, unless that has one too."""
    errors = ERRORS.replace("class StoreError(Exception)", "class StoreError(AlreadyExistsError)")
    helpers = HELPERS.replace('f"Store error: {name}"', "name")
    _, files = run(tmp_path / "a", {**FILES, "pkg/errors.py": errors, "pkg/helpers.py": helpers})
    assert ".on(AlreadyExistsError" not in files["pkg/server.py"]
    helpers = HELPERS.replace('f"Store error: {name}"', '"The store was not found"')
    _, files = run(tmp_path / "b", {**FILES, "pkg/errors.py": errors, "pkg/helpers.py": helpers})
    assert ".on(AlreadyExistsError" in files["pkg/server.py"]
    assert ".on(StoreError" in files["pkg/server.py"]


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
    assert files["pkg/server.py"].count("@tool(") == 1


def test_a_class_is_mapped_only_if_its_sentence_is_always_true(tmp_path: Path) -> None:
    """Another raise of it in the project, or a subclass, may reach the tool in a way that nothing follows."""
    helpers = f"{HELPERS}\n\ndef other() -> None:\n    raise SectionNotFoundError('The index is out of date')\n"
    _, files = run(tmp_path / "a", {**FILES, "pkg/helpers.py": helpers})
    assert ".on(SectionNotFoundError" not in files["pkg/server.py"]
    errors = f"{ERRORS}\n\nclass IndexNotFoundError(SectionNotFoundError):\n    pass\n"
    _, files = run(tmp_path / "b", {**FILES, "pkg/errors.py": errors})
    assert ".on(SectionNotFoundError" not in files["pkg/server.py"]


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
