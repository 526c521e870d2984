"""The texts of a contract: whole sentences with placeholders, and what the message says to do."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from mcpcore_lint.engine.syntax.project import Project
from mcpcore_lint.migrate.sentences import of_class, sentences

SAID = {
    'f"The URL must end with {suffix}"': ("The URL must end with {suffix}.", ""),
    'f"order {self.order_id!r} not found: {e}"': ("The order was not found.", ""),
    "f\"There is no order {args['id']} ({exc})\"": ("There is no order {id}.", ""),
    '"page_size must be positive"': ("page_size must be positive.", ""),
    'f"Unknown table {name}. Use list_tables first."': ("The table is unknown.", "Use list_tables first."),
    'f"Unknown table {name}. Use one of {names}."': ("The table is unknown.", ""),
    "f\"Unknown table {name}. Available tables: ['a', b]\"": ("The table is not one of 'a', b.", ""),
    'f"Invalid name: {name}. Must be one of {names}"': ("The name is invalid.", ""),
    'f"No rows in {table}. Please check the filter, and try again!"': (
        "No rows in {table}.",
        "Please check the filter, and try again!",
    ),
    "f\"Must be one of: {', '.join(sorted(KINDS))}\"": ("Must be one of: {kinds}.", ""),
    'f"At most {len(rows)} rows"': ("At most {number_of_rows} rows.", ""),
    '"Limit is %d of %s" % (most, kind)': ("Limit is {most} of {kind}.", ""),
    '"Limit is {} of it".format(most)': ("Limit is {most} of it.", ""),
    '"The query is empty \N{EM DASH} pass a word"': ("The query is empty.", "Pass a word."),
    '"Check failed for the host"': ("Check failed for the host.", ""),
    '"\\u274c Error: the note is empty"': ("The note is empty.", ""),
    'f"The set {{{x}}} is odd"': ("The set ({x}) is odd.", ""),
    'f"{type(e).__name__} says no"': ("{error_type} says no.", ""),
    "f\"No such {response.json().get('kind')} of {await get(x)}\"": ("No such {kind} of {x}.", ""),
    '"Either `a` or `b`"': ("Either `a` or `b`.", ""),
    'f"Failed: {e}"': None,
    'f"HTTP {status}"': None,
    "str(e)": None,
    'f"Reading {e} was too slow"': None,
    "'a b ' * 200": None,
    f"'{'a b ' * 80}'": None,
    '""': None,
}


@pytest.mark.parametrize("code", SAID)
def test_a_message_becomes_a_sentence(code: str, tmp_path: Path) -> None:
    """The words stay, values become placeholders, and what is no sentence becomes nothing."""
    (tmp_path / "a.py").write_text(f"async def f(page_size):\n    raise ValueError({code})\n")
    module = Project(str(tmp_path)).read(str(tmp_path / "a.py"))
    module.complete()
    function = module.tree.body[0]
    assert isinstance(function, ast.AsyncFunctionDef)
    raised = function.body[0]
    assert isinstance(raised, ast.Raise)
    assert isinstance(raised.exc, ast.Call)
    said = sentences(raised.exc.args[0], module.scope_of(function))
    assert SAID[code] == (tuple(said) if said is not None else None)


def test_the_sentence_of_a_class() -> None:
    """It comes from Python, or from the docstring of a class of the project."""

    def made(docstring: str) -> ast.ClassDef:
        node = ast.parse(f"class HTTPLockedError(Exception):\n    {docstring!r}\n").body[0]
        assert isinstance(node, ast.ClassDef)
        return node

    assert None is of_class("builtins.ValueError", None)
    assert None is of_class("builtins.RuntimeError", None)
    assert ("http_locked", "The page is locked.") == of_class("a.B", made("Raised when the page is locked. Rare."))
    assert None is of_class("a.B", made("A locked page."))
    assert None is of_class("a.B", made("Raised when HTTP is locked."))
