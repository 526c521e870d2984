"""An error in a task or future is raised where the task is awaited, and nowhere else."""

from __future__ import annotations

from typing import Final

import pytest

HEAD: Final = """
import asyncio
from concurrent.futures import ThreadPoolExecutor, as_completed
from mcpcore import CodedError, conflict, forbidden, not_found, tool
async def work():
    raise forbidden("x")
def plain():
    raise conflict("x")
async def safely(number, job):
    try:
        return await job
    except CodedError:
        return number
async def narrowly(job):
    try:
        return await job
    except KeyError:
        return None
async def twice(job):
    try:
        return await job
    except CodedError:
        return await job
pool = ThreadPoolExecutor()
@tool
async def fetch(a: int):
"""
TOLD: Final = {"FORBIDDEN"}
PLAIN: Final = {"CONFLICT"}

CASES: Final[dict[str, tuple[str, set[str]]]] = {
    "awaited in a try": (
        "task = asyncio.create_task(work())\ntry:\n    await task\nexcept CodedError:\n    pass",
        set(),
    ),
    "awaited with others, as results": (
        "task = asyncio.create_task(work())\nawait asyncio.gather(task, return_exceptions=True)",
        set(),
    ),
    "awaited with a limit in a try": (
        "task = asyncio.create_task(work())\ntry:\n    await asyncio.wait_for(asyncio.shield(task), 5)\nexcept CodedError:\n    pass",
        set(),
    ),
    "gathered in a name": ("jobs = asyncio.gather(work(), work())\nreturn await jobs", TOLD),
    "coroutines in a list": ("jobs = [work() for _ in range(a)]\nawait asyncio.gather(*jobs)", TOLD),
    "tasks in a list, each in a try": (
        "tasks = [asyncio.create_task(work())]\nfor task in tasks:\n    try:\n        await task\n    except CodedError:\n        pass",
        set(),
    ),
    "awaited by a function in a try": ("return await safely(1, job=work())", set()),
    "awaited by a function in a try of another class": ("return await narrowly(work())", TOLD),
    "awaited by a function in a try and elsewhere": ("return await twice(work())", TOLD),
    "an argument that no coroutine is": ("return await safely(1, plain())", PLAIN),
    "nobody waits": ("task = asyncio.create_task(work())\nreturn 1", set()),
    "nobody waits, and it is kept": (
        "kept = set()\ntask = asyncio.create_task(work())\nkept.add(task)\ntask.add_done_callback(kept.discard)",
        set(),
    ),
    "it is only asked for its error": (
        "task = asyncio.create_task(work())\nawait asyncio.wait([task])\nif task.exception():\n    raise not_found('x')",
        {"NOT_FOUND"},
    ),
    "a group in a try": (
        "try:\n    async with asyncio.TaskGroup() as group:\n        task = group.create_task(work())\nexcept* CodedError:\n    pass",
        set(),
    ),
    "a task of a group that is awaited in a try": (
        "async with asyncio.TaskGroup() as group:\n    task = group.create_task(work())\n    try:\n        await task\n    except CodedError:\n        pass",
        TOLD,
    ),
    "a future in a try": (
        "future = pool.submit(plain)\ntry:\n    future.result()\nexcept CodedError:\n    pass",
        set(),
    ),
    "a future that is never awaited": ("pool.submit(plain)", set()),
    "a function in a thread": ("return await asyncio.to_thread(plain)", PLAIN),
    "a function in a thread, awaited in a try": (
        "job = asyncio.to_thread(plain)\ntry:\n    await job\nexcept CodedError:\n    pass",
        set(),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_an_error_is_raised_where_the_task_is_awaited(project, case):
    """Only the `except` clauses around the `await` apply; a task that is never awaited raises no error."""
    body, expected = CASES[case]
    project.write(app=HEAD + "\n".join(f"    {line}" for line in body.splitlines()) + "\n")
    assert expected == {code for code, _ in project.thrown()}


def test_a_task_that_is_stored_elsewhere_is_unknown(project):
    """Other code may await it, so its call is reported as unresolved and no error is reported."""
    project.write(app=HEAD + "    KEPT.append(asyncio.create_task(work()))\nKEPT = []\n")
    reach = project.reach()
    assert not reach.throws
    assert ["work"] == [call.name for call in reach.unresolved if call.project]
