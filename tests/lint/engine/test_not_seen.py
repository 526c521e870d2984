"""Calls that may raise any error are reported, unless that makes no difference."""

from __future__ import annotations

import textwrap
from typing import Final

import pytest

NOT_SEEN: Final[dict[str, tuple[str, list[str]]]] = {
    "what is given to a thread to be run": (
        """
        await asyncio.to_thread(client.describe, 1)
        await asyncio.get_running_loop().run_in_executor(None, client.other)
        await anyio.to_thread.run_sync(client.third)
        """,
        ["client.describe", "client.other", "client.third"],
    ),
    "nothing of what gathers arguments": ('names.index("a")\noptions.get("b")\nThing(a=1)', []),
    "nothing behind a clause that takes all": (
        "try:\n    client.inside()\nexcept Exception:\n    return None",
        [],
    ),
    "what a narrower clause takes in part": (
        "try:\n    client.inside()\nexcept ValueError:\n    return None",
        ["client.inside"],
    ),
    "what a clause passes on under a condition": (
        "try:\n    client.inside()\nexcept Exception as exc:\n    if isinstance(exc, ValueError):\n        raise\n",
        ["client.inside"],
    ),
    "what an earlier clause passes on": (
        "try:\n    client.inside()\nexcept ValueError:\n    raise\nexcept Exception:\n    return None",
        ["client.inside"],
    ),
    "nothing in a function that takes all": ("quiet(client)", []),
    "what a function calls that takes some": ("loud(client)", ["client.go"]),
}


@pytest.mark.parametrize("case", NOT_SEEN)
def test_unresolved_calls_are_named(project, case):
    """Each call that may raise any error is named, unless all errors are caught."""
    body, expected = NOT_SEEN[case]
    lines = "\n    ".join(line.strip("\n") for line in textwrap.dedent(body).strip("\n").splitlines())
    project.write(
        app=f"""
import asyncio
import anyio
from mcpcore import tool
class Thing:
    def __init__(self, **kwargs):
        self.a = kwargs.pop("a", 1)
def quiet(client):
    try:
        client.go()
    except BaseException:
        return None
def loud(client):
    try:
        client.go()
    except (KeyError, OSError):
        return None
@tool
async def fetch(client, *names, **options):
    {lines}
"""
    )
    assert expected == [call.name for call in project.reach().unresolved if call.project]


def test_a_decorator_that_catches_everything_leaves_no_unresolved_call(project):
    """Clauses in the handler also catch the errors of the functions that it calls."""
    project.write(
        app="""
        import functools
        from mcpcore import tool
        def safely(run):
            @functools.wraps(run)
            async def wrapper(*args, **kwargs):
                try:
                    return await run(*args, **kwargs)
                except Exception as exc:
                    return {"problem": type(exc).__name__}
            return wrapper
        @tool
        @safely
        async def fetch(client):
            return client.go()
        """
    )
    reach = project.reach()
    assert not [call for call in reach.unresolved if call.project]
    assert not reach.throws
