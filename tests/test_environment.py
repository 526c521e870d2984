"""The page of environment variables has those that the code reads, and no others."""

from __future__ import annotations

import ast
import re

from tests.files import ROOT

PAGE = (ROOT / "docs" / "reference" / "environment.md").read_text(encoding="utf-8")
PASSED_ON = {"PATH", "PYTHONPATH"}
"""Variables that are read only to start another program."""


def _read(path):
    """The variables that a file reads: literal names, and every constant that has the form of one of mcpcore's."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if re.search("MCPCORE_|environ|getenv", text) else ():
        match node:
            case ast.Constant(value=str(name)) if re.fullmatch(r"MCPCORE_[A-Z_]+", name):
                yield name
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="environ")), args=[ast.Constant(value=str(name)), *_]
            ):
                yield name
            case ast.Call(func=ast.Attribute(attr="getenv"), args=[ast.Constant(value=str(name)), *_]):
                yield name
            case ast.Subscript(value=ast.Attribute(attr="environ"), slice=ast.Constant(value=str(name))):
                yield name
            case ast.Compare(left=ast.Constant(value=str(name)), comparators=[ast.Attribute(attr="environ")]):
                yield name


def test_the_page_has_every_variable_that_the_code_reads():
    """Each has a row, and each row is of a variable that is read."""
    read = {name for home in ("mcpcore", "lint") for path in (ROOT / home).rglob("*.py") for name in _read(path)}
    cells = re.findall(r"^\| (`[A-Z_`, ]+`) \|", PAGE, re.MULTILINE)
    assert read - PASSED_ON == {name for cell in cells for name in re.findall(r"\w+", cell)}


def test_reads_are_found_in_every_form(tmp_path):
    """The check is not blind to one of the forms."""
    file = tmp_path / "reads.py"
    file.write_text(
        "import os\nos.environ.get('A')\nos.getenv('B')\nos.environ['C']\n'D' in os.environ\nX = 'MCPCORE_E'\ny = 'F'\n",
        encoding="utf-8",
    )
    assert ["A", "B", "C", "D", "MCPCORE_E"] == sorted(_read(file))
