"""What a task or a future raises comes out where it is waited for, and nowhere else."""

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
pool = ThreadPoolExecutor()
@tool
async def fetch(a: int):
"""
TOLD: Final = {"FORBIDDEN"}
PLAIN: Final = {"CONFLICT"}

CASES: Final[dict[str, tuple[str, set[str]]]] = {
    "awaited": ("task = asyncio.create_task(work())\nreturn await task", TOLD),
    "awaited in a try": (
        "task = asyncio.create_task(work())\ntry:\n    await task\nexcept CodedError:\n    pass",
        set(),
    ),
    "made in a try, awaited behind it": (
        "try:\n    task = asyncio.create_task(work())\nexcept CodedError:\n    return\nawait task",
        TOLD,
    ),
    "awaited twice, once in a try": (
        "task = asyncio.create_task(work())\ntry:\n    await task\nexcept CodedError:\n    pass\nreturn await task",
        TOLD,
    ),
    "awaited with others": (
        "first, second = asyncio.create_task(work()), asyncio.ensure_future(work())\nawait asyncio.gather(first, second)",
        TOLD,
    ),
    "awaited with others, as results": (
        "task = asyncio.create_task(work())\nawait asyncio.gather(task, return_exceptions=True)",
        set(),
    ),
    "awaited with a limit in a try": (
        "task = asyncio.create_task(work())\ntry:\n    await asyncio.wait_for(asyncio.shield(task), 5)\nexcept CodedError:\n    pass",
        {"TimeoutError"},
    ),
    "gathered in a name": ("jobs = asyncio.gather(work(), work())\nreturn await jobs", TOLD),
    "gathered in a name, awaited in a try": (
        "jobs = asyncio.gather(work(), work())\ntry:\n    await jobs\nexcept CodedError:\n    pass",
        set(),
    ),
    "coroutines in a list": ("jobs = [work() for _ in range(a)]\nawait asyncio.gather(*jobs)", TOLD),
    "coroutines in a list, gathered in a try": (
        "jobs = [work() for _ in range(a)]\ntry:\n    await asyncio.gather(*jobs)\nexcept CodedError:\n    pass",
        set(),
    ),
    "a coroutine that is made into a task": (
        "job = work()\ntask = asyncio.create_task(job)\ntry:\n    await task\nexcept CodedError:\n    pass",
        set(),
    ),
    "tasks in a list": (
        "tasks = []\nfor _ in range(a):\n    tasks.append(asyncio.create_task(work()))\nfor task in tasks:\n    await task",
        TOLD,
    ),
    "tasks in a list, each in a try": (
        "tasks = [asyncio.create_task(work())]\nfor task in tasks:\n    try:\n        await task\n    except CodedError:\n        pass",
        set(),
    ),
    "tasks in a table": (
        "tasks = {}\ntasks['a'] = asyncio.create_task(work())\nreturn [await each for each in tasks.values()]",
        TOLD,
    ),
    "nobody waits": ("task = asyncio.create_task(work())\nreturn 1", set()),
    "nobody waits, and it is kept": (
        "kept = set()\ntask = asyncio.create_task(work())\nkept.add(task)\ntask.add_done_callback(kept.discard)",
        set(),
    ),
    "it is only asked for its error": (
        "task = asyncio.create_task(work())\nawait asyncio.wait([task])\nif task.exception():\n    raise not_found('x')",
        {"NOT_FOUND"},
    ),
    "those that are done are asked for their results": (
        "tasks = [asyncio.create_task(work())]\ndone, _ = await asyncio.wait(tasks)\nreturn [each.result() for each in done]",
        TOLD,
    ),
    "one that is done is asked for its result at once": (
        "return (await asyncio.wait({asyncio.ensure_future(work())}))[0].pop().result()",
        TOLD,
    ),
    "a group tells at the end of its block": (
        "async with asyncio.TaskGroup() as group:\n    try:\n        group.create_task(work())\n    except* CodedError:\n        pass",
        TOLD,
    ),
    "a group in a try": (
        "try:\n    async with asyncio.TaskGroup() as group:\n        task = group.create_task(work())\nexcept* CodedError:\n    pass",
        set(),
    ),
    "a task of a group that is awaited in a try": (
        "async with asyncio.TaskGroup() as group:\n    task = group.create_task(work())\n    try:\n        await task\n    except CodedError:\n        pass",
        TOLD,
    ),
    "a future": ("future = pool.submit(plain)\nreturn future.result()", PLAIN),
    "a future in a try": (
        "future = pool.submit(plain)\ntry:\n    future.result()\nexcept CodedError:\n    pass",
        set(),
    ),
    "a future that nobody asks": ("pool.submit(plain)", set()),
    "futures as they are done": (
        "futures = {pool.submit(plain): each for each in range(a)}\nfor each in as_completed(futures):\n    each.result()",
        PLAIN,
    ),
    "a function in a thread": ("return await asyncio.to_thread(plain)", PLAIN),
    "a function in a thread, awaited in a try": (
        "job = asyncio.to_thread(plain)\ntry:\n    await job\nexcept CodedError:\n    pass",
        set(),
    ),
    "a function in an executor": (
        "loop = asyncio.get_running_loop()\ntry:\n    job = loop.run_in_executor(None, plain)\nfinally:\n    pass\nawait job",
        PLAIN,
    ),
    "handed to what waits for it": ("task = asyncio.create_task(work())\nawait joined(task)", TOLD),
}


@pytest.mark.parametrize("case", CASES)
def test_a_failure_comes_out_where_it_is_waited_for(project, case):
    """The clauses round that place decide, and nothing is told where there is none."""
    body, expected = CASES[case]
    project.write(app=HEAD + "\n".join(f"    {line}" for line in body.splitlines()) + "\n")
    assert expected == {code for code, _ in project.thrown()}


def test_it_is_told_at_the_call_that_leads_there(project):
    """The finding stands at the call of the coroutine, not where it is waited for."""
    project.write(app=HEAD + "    task = asyncio.create_task(work())\n    a += 1\n    await task\n")
    (reached,) = project.reach().throws
    assert reached.call.line == len(HEAD.splitlines()) + 1


def test_a_task_that_is_kept_where_others_see_it_is_unknown(project):
    """Somebody may wait for it: that is said, and nothing is told."""
    project.write(app=HEAD + "    KEPT.append(asyncio.create_task(work()))\nKEPT = []\n")
    reach = project.reach()
    assert not reach.throws
    assert ["work"] == [each.name for each in reach.unresolved if each.project]
