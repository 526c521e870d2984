"""Clauses that catch everything to say it in a text: they go, each with a line of the report."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.migrate.migrating import report, run

HEAD = """import logging

import httpx
from neo4j.exceptions import Neo4jError
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from mcpcore.integrations.fastmcp import ContractMiddleware

mcp = FastMCP("x", middleware=[ContractMiddleware(expose_internal_errors="message")])
logger = logging.getLogger(__name__)


class DriverError(Exception):
    pass


class BadOrderError(Exception):
    pass


@mcp.tool
async def create(names: list[str]) -> str:
"""
GOES = {
    "the only clause": (
        """
        try:
            return driver.run(names)  # all of them
        except Exception as e:  # noqa: BLE001
            # Tell the model.
            raise ToolError(f"Error creating entities: {e}") from e
        """,
        """
        return driver.run(names)  # all of them
        """,
        'except Exception goes: it said f"Error creating entities: {e}"',
    ),
    "a clause that logs": (
        """
        try:
            return driver.run(names)
        except Exception as e:
            logger.exception("Error creating entities")
            return f"Error creating entities: {e}"
        """,
        """
        try:
            return driver.run(names)
        except Exception:
            logger.exception("Error creating entities")
            raise
        """,
        'except Exception raises again: it said f"Error creating entities: {e}"',
    ),
    "a try on one line": (
        """
        try: return driver.run(names)
        except Exception as e: raise ToolError(f"Error creating entities: {e}")
        """,
        """
        return driver.run(names)
        """,
        'except Exception goes: it said f"Error creating entities: {e}"',
    ),
    "the class of a library above all its errors": (
        """
        try:
            return driver.run(names)
        except Neo4jError as e:
            raise ToolError(f"Neo4j error creating entities: {e}")
        """,
        """
        return driver.run(names)
        """,
        'except Neo4jError goes: it said f"Neo4j error creating entities: {e}"',
    ),
    "a class of the project above all errors of a service": (
        """
        try:
            return driver.run(names)
        except DriverError as e:
            return f"Error getting answer: {e}"
        """,
        """
        return driver.run(names)
        """,
        'except DriverError goes: it said f"Error getting answer: {e}"',
    ),
    "a class of a library whose status says more": (
        """
        try:
            return driver.run(names)
        except httpx.HTTPStatusError as e:
            return f"API error listing names: {e}"
        """,
        """
        return driver.run(names)
        """,
        'except httpx.HTTPStatusError goes: it said f"API error listing names: {e}"',
    ),
    "classes that need different advice": (
        """
        try:
            return driver.run(names)
        except (TimeoutError, PermissionError) as e:
            return f"Error: {e}"
        """,
        """
        return driver.run(names)
        """,
        'except (TimeoutError, PermissionError) goes: it said f"Error: {e}"',
    ),
    "a clause that cleans up": (
        """
        try:
            return driver.run(names)
        except Exception as e:
            driver.rollback()
            return {"error": str(e)}
        """,
        """
        try:
            return driver.run(names)
        except Exception:
            driver.rollback()
            raise
        """,
        "except Exception raises again: it said str(e)",
    ),
    "a try with else and finally": (
        """
        try:
            rows = driver.run(names)
        except Exception as e:
            return f"Error: {e}"
        else:
            logger.info("done")
        return rows
        """,
        """
        rows = driver.run(names)
        logger.info("done")
        return rows
        """,
        'except Exception goes: it said f"Error: {e}"',
    ),
    "one of several clauses": (
        """
        try:
            return driver.run(names)
        except KeyError as e:
            return names[0]
        except Exception as e:
            message = f"Failed to create: {e}"
            return message
        finally:
            driver.close()
        """,
        """
        try:
            return driver.run(names)
        except KeyError as e:
            return names[0]
        finally:
            driver.close()
        """,
        "except Exception goes: it said message",
    ),
    "one try inside of another": (
        """
        try:
            try:
                return driver.run(names)
            except Exception as e:
                raise ToolError(f"Query failed: {e}")
        except Exception as e:
            raise ToolError(f"Create failed: {e}")
        """,
        """
        return driver.run(names)
        """,
        'except Exception goes: it said f"Query failed: {e}"',
    ),
    "a mapping with further texts": (
        """
        try:
            return driver.run(names)
        except Exception as e:
            return {
                "success": False,
                "error": str(e),
                "message": "The entities were not created",
                "hint": "Try it again",
            }
        """,
        "return driver.run(names)",
        'except Exception goes: it said str(e) beside {"message": "The entities were not created"} and "Try it again"',
    ),
}


def _head(before: str, after: str) -> str:
    """The head of the file without the imports of the classes that only the clause named."""
    lines = HEAD.splitlines(keepends=True)
    gone = [name for name in ("httpx", "Neo4jError", "ToolError") if name in before and name not in after]
    return "".join(line for line in lines if not any(line.endswith(f"import {name}\n") for name in gone))


@pytest.mark.parametrize("name", GOES)
def test_a_clause_goes_and_has_a_line(name: str, tmp_path: Path) -> None:
    """No failure mode is made for it, the body stays as it was, and the line has the text that clients read."""
    before, after, line = GOES[name]
    outcome, files = run(
        tmp_path, {"server.py": HEAD + textwrap.indent(textwrap.dedent(before).strip("\n"), "    ") + "\n"}
    )
    assert (
        _head(before, after) + textwrap.indent(textwrap.dedent(after).strip("\n"), "    ") + "\n" == files["server.py"]
    )
    assert line in [removed.text("", 0).removeprefix(":0 create: ") for removed in outcome.removed]
    assert [] == report(outcome)
    assert 0 == outcome.exit_code
    again, _ = run(tmp_path, {})
    assert ((), ()) == (again.files, again.removed)


STAYS = {
    "a class of the project with a text that says more": (
        """
        try:
            return driver.run(names)
        except BadOrderError as e:
            return f"Error: the order is too long: {e}"
        """,
        'raise ctx.fail("order_is_too_long", f"the order is too long: {e}") from e',
        "",
    ),
    "a text that only the author knew": (
        """
        try:
            return driver.run(names)
        except Exception:
            raise ToolError("The entity was not found")
        """,
        'raise ToolError("The entity was not found")',
        "server.py:26 create: ToolError keeps its class and its text: declare a failure mode, and raise ctx.fail, if clients need a code or advice",
    ),
    "another try answers for it": (
        """
        try:
            try:
                return driver.run(names)
            except Exception as e:
                raise ToolError(f"Query failed: {e}")
        except KeyError:
            return names[0]
        """,
        'raise ToolError(f"Query failed: {e}")',
        (
            "server.py:26 create: a clause catches everything, inside of another try: keep one of the two clauses, and run the "
            "command again"
        ),
    ),
    "a comment below the body": (
        """
        try:
            return driver.run(names)
            # TODO: close it
        except Exception as e:
            raise ToolError(f"Query failed: {e}")
        """,
        'raise ToolError(f"Query failed: {e}")',
        "server.py:26 create: a clause catches everything: remove it, since the boundary answers",
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_a_clause_stays(name: str, tmp_path: Path) -> None:
    """It says more than the exception, or removing it would lose something."""
    before, part, line = STAYS[name]
    outcome, files = run(
        tmp_path, {"server.py": HEAD + textwrap.indent(textwrap.dedent(before).strip("\n"), "    ") + "\n"}
    )
    assert part in files["server.py"]
    assert () == outcome.removed
    assert list(filter(None, [line])) == report(outcome)


HIDING = """import httpx
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")


@mcp.tool()
def send(text: str) -> dict[str, str]:
    try:
        return {"answer": httpx.post(f"https://a.b/bot{SECRET}/send", data=text).raise_for_status().text}
    except httpx.HTTPStatusError as e:
        return {"error": f"HTTP {e.response.status_code}"}


@mcp.tool()
def ask(text: str) -> dict[str, str]:
    try:
        return {"answer": httpx.post(f"https://a.b/bot{SECRET}/ask", data=text).text}
    except Exception:
        return {"error": "Failed to ask"}
"""


def test_a_text_that_hides_the_exception_goes_on_to_hide_it(tmp_path: Path) -> None:
    """Where clients read the texts of exceptions, that of httpx has the address in it, and so the secret."""
    _, files = run(tmp_path / "both", {"server.py": HIDING})
    for part in (
        'Server("x", expose_internal_errors="message")',
        'return {"error": f"HTTP {e.response.status_code}"}',
        'return {"error": "Failed to ask"}',
    ):
        assert part in files["server.py"]
    head, _, tools = HIDING.partition("@mcp.tool()")
    source = f"{head}@mcp.tool(){tools.partition('@mcp.tool()')[2]}"
    for clause in ("except Exception:", "except:"):
        _, files = run(tmp_path / clause, {"server.py": source.replace("except Exception:", clause)})
        new = '    except Exception as exc:\n        raise internal_error("Failed to ask") from exc'
        assert new in files["server.py"]


def test_a_failure_that_a_clause_would_answer_for_stays(tmp_path: Path) -> None:
    """The clause makes a plain result of the failure, and it stays."""
    body = """    try:
        if not names:
            return "Error: names must not be empty"
        return driver.run(names)
    except Exception as e:
        shown = driver.explain(e)
        return shown
"""
    outcome, files = run(tmp_path, {"server.py": HEAD + body})
    assert HEAD + body == files["server.py"]
    assert any("create: other failures are returned, and stay" in line for line in report(outcome))
