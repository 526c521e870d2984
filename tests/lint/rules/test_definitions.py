"""The definition rules on whole files and across files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from mcpcore_lint.runner.engine import lint_paths, lint_source
from mcpcore_lint.settings import Settings

CASES = Path(__file__).parent.parent / "cases"


def test_a_name_used_twice_on_one_server_is_found_across_files(tmp_path):
    """The tool outside the server's own file is reported, with the place of the other."""
    (tmp_path / "app.py").write_text(
        'from mcpcore import Server\nserver = Server("x")\n@server.tool()\ndef fetch() -> str:\n    """Fetch."""\n'
    )
    for name in ("aaa", "zzz"):
        (tmp_path / f"{name}.py").write_text(
            f'from app import server\n@server.tool(name="fetch")\ndef {name}() -> str:\n    """Fetch."""\n'
        )
    chosen = Settings(select=frozenset({"tool-name-unique"}), cache_dir=str(tmp_path / ".cache"))
    report = lint_paths([tmp_path], settings=chosen, root=str(tmp_path))
    assert [(diagnostic.path, diagnostic.span.line) for diagnostic in report.diagnostics] == [
        ("aaa.py", 3),
        ("zzz.py", 3),
    ]
    assert "app.py:4" in report.diagnostics[0].help


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=140))
def test_a_name_is_reported_if_and_only_if_the_protocol_rejects_it(name):
    """Any string is either a valid tool name or has a finding."""
    source = f"from mcpcore import tool\n@tool(name={name!r})\ndef fetch() -> str: ...\n"
    report = lint_source(source, settings=Settings(select=frozenset({"tool-name-format"})))
    assert bool(re.fullmatch(r"[A-Za-z0-9._-]{1,128}", name)) != bool(report.diagnostics)


@pytest.mark.parametrize(
    "docstring",
    [
        "Fetch.\n\n    Args:\n        pmid: An id.\n",
        "Fetch.\n\n    Args:\n        pmid (str): An id.\n",
        "Fetch.\n\n    Parameters\n    ----------\n    pmid : str\n        An id.\n",
        "Fetch.\n\n    :param pmid: An id.\n",
        "Fetch.\n\n    :param str pmid: An id.\n",
        "Fetch.\n\n    - pmid: An id.\n    - **more**: More.\n",
        "Fetch.\n\n    * `pmid` - An id.\n",
        "Fetch the article of `pmid`.\n",
        "Fetch.\n\n    Example: fetch(pmid=12)\n",
        "Fetch.\n\n    Parameters\n    ----------\n    pmid, other : str\n        Ids.\n",
        "Fetch.\n\n    Parameters\n    ----------\n    pmid\n        An id.\n",
        "Fetch.\n\n    Args:\n        other, pmid: Ids.\n",
        "Fetch.\n\n    :arg pmid: An id.\n    :type pmid: str\n",
        "Fetch.\n\n    @param pmid: An id.\n",
        "Fetch.\n\n    @param pmid An id.\n",
        "Fetch.\n\n    | name | meaning |\n    |---|---|\n    | `pmid` | An id. |\n",
    ],
)
def test_a_docstring_that_explains_a_parameter_describes_it(docstring):
    """The usual ways to document a parameter in a docstring all count."""
    source = f'from mcpcore import tool\n@tool\ndef fetch(pmid: str) -> str:\n    """{docstring}    """\n'
    assert not lint_source(source, settings=Settings(select=frozenset({"field-description"}))).diagnostics


@pytest.mark.parametrize(
    "docstring",
    [
        "Fetch.\n",
        "Fetch what the pmid is of.\n",
        "Fetch.\n\n    Args:\n        pmids: Others.\n",
        "Fetch.\n\n    :param pmid_type: Another.\n",
        "Fetch.\n\n    pmid\n    is never described.\n",
        "Fetch.\n\n    | name | meaning |\n    |---|---|\n    | other | Not a pmid. |\n",
    ],
)
def test_a_docstring_that_only_mentions_a_parameter_does_not_describe_it(docstring):
    """If the type leaves the value open, a word in a sentence is not a description."""
    source = f'from mcpcore import tool\n@tool\ndef fetch(pmid: dict[str, str]) -> str:\n    """{docstring}    """\n'
    report = lint_source(source, settings=Settings(select=frozenset({"field-description"})))
    assert report.diagnostics[0].message == "the parameter pmid of fetch has no description"


@pytest.mark.parametrize(
    ("parameter", "docstring", "reported"),
    [
        ("genre: str", "Recommend a book in the given genre.", False),
        ("genres: list[str]", "Recommend a book of some genre.", False),
        ("genre: str", "Recommend a book.", True),
        ("genre: dict[str, str]", "Recommend a book in the given genre.", True),
        ("amount: int", "Refund an amount.", False),
        ("date: str", "Book for a date.", False),
        ("brightness: int", "Set the brightness (0-254).", False),
        ("party_size: int", "Book a table.", False),
        ("size: int", "Book a table.", True),
        ("a: str", "Work.", True),
        ("a: float", "Work.", False),
        ("include_notes: bool", "Work.", False),
        ("sure: bool", "Work.", False),
        ("url", "Work.", False),
        ("thing", "Work.", True),
        ("data: bytes", "Process data.", True),
        ("filePath: str", "Work.", False),
        ("größe: str", "Work.", True),
    ],
)
def test_a_name_that_the_tool_mentions_needs_no_description(parameter, docstring, reported):
    """A plain name, a bool, and a name whose words the description contains are enough."""
    source = f'from mcpcore import tool\n@tool\ndef work({parameter}) -> str:\n    """{docstring}"""\n'
    assert bool(lint_source(source, settings=Settings(select=frozenset({"field-description"}))).diagnostics) is reported


@pytest.mark.parametrize(
    ("options", "messages"),
    [('description="Work."', ["described only in the docstring"]), ("", []), ('description=""', [])],
)
def test_a_docstring_that_is_not_sent_describes_nothing(options, messages):
    """`description=` replaces the docstring, so the model never reads the parameters described there."""
    source = (
        f"from mcp.server.mcpserver import MCPServer\nserver = MCPServer('x')\n@server.tool({options})\n"
        'def work(path: str) -> str:\n    """Work.\n\n    Args:\n        path: Where.\n    """\n'
    )
    report = lint_source(source, settings=Settings(select=frozenset({"field-description"})))
    assert len(report.diagnostics) == len(messages)
    assert all(part in diagnostic.message for part, diagnostic in zip(messages, report.diagnostics, strict=True))
