"""If another process holds the lock, only the failing call waits, and the event loop continues."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcpcore import Context, ErrorCode, FailureMode, Server, tool
from mcpcore.audit import AuditError, AuditTrail, verify, writer as writer_module
from mcpcore.audit.files import head_path, lock_path
from mcpcore.audit.reading import read
from mcpcore.audit.trail import Call, current_call, settle
from mcpcore.services.batch import Batch, BatchResult
from tests.answers import ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

if sys.platform == "win32":
    pytest.skip("a lock of POSIX", allow_module_level=True)

import fcntl
import logging

ERRORS = [FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Search first.")]


@tool(errors=ERRORS)
async def fail(ctx: Context[Any], n: int) -> str:
    """Fail where n is negative."""
    if n < 0:
        raise ctx.fail("gone", f"There is no {n}.")
    return "fine"


def process(ctx: Context[Any], count: int) -> BatchResult[int]:
    """Process some items, of which all but the first fail."""
    batch = Batch[int](ctx)
    for n in range(count):
        with batch.item(n):
            if n:
                raise ctx.fail("gone", f"There is no {n}.")
            batch.add(n)
    return batch.result()


@tool(errors=ERRORS)
async def some(ctx: Context[Any], count: int) -> BatchResult[int]:
    """Process some items on the loop."""
    return process(ctx, count)


@tool(errors=ERRORS)
def some_in_a_thread(ctx: Context[Any], count: int) -> BatchResult[int]:
    """Do the same in a worker thread."""
    return process(ctx, count)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock of a trail like another process that was stopped in the middle of a record."""
    with lock_path(path).open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def opened(path: Path, **options: Any) -> AuditTrail:
    return AuditTrail.open(path, sinks=(), **options)


def serving(trail: AuditTrail, **options: Any) -> Server[Any]:
    server = Server("s", tools=[fail, some, some_in_a_thread], audit=trail, **options)

    @server.resource("res://one")
    def broken_resource() -> str:
        raise LookupError("no such thing")

    @server.prompt()
    def ask() -> str:
        raise LookupError("no such thing")

    return server


def record_in(call: Call, trail: AuditTrail, *failures: Any) -> None:
    """Record failures of a call."""
    token = current_call.set(call)
    for failure in failures:
        trail.record(failure)
    current_call.reset(token)


async def failing(client: Client, answers: list[Any]) -> None:
    """Make a call that fails, and keep its answer."""
    answers.append(await client.call_tool("fail", {"n": -1}))


def messages(path: Path) -> list[str]:
    return [str(record["message"]) for record in read(path) if "event" not in record]


def reason(result: Any) -> Any:
    return result.structured_content["error"]["data"].get("reason")


async def until(holds: Callable[[], bool]) -> None:
    """Return when `holds` returns true."""
    with anyio.fail_after(60):
        while not holds():  # noqa: ASYNC110 - there is no event to wait for
            await anyio.sleep(0.001)


async def longest_gap(until: anyio.Event) -> float:
    """Measure the longest time for which the loop was blocked."""
    longest, before = 0.0, time.perf_counter()
    while not until.is_set():
        await anyio.sleep(0.001)
        now = time.perf_counter()
        longest, before = max(longest, now - before - 0.001), now
    return longest


async def gap_of_failing_calls(server: Server[Any], name: str, arguments: dict[str, int], calls: int) -> float:
    gaps: list[float] = []
    async with Client(server) as client:
        await client.call_tool("fail", {"n": 1})
        done = anyio.Event()

        async def watch() -> None:
            gaps.append(await longest_gap(done))

        async with anyio.create_task_group() as watching:
            watching.start_soon(watch)
            async with anyio.create_task_group() as calling:
                for _ in range(calls):
                    calling.start_soon(client.call_tool, name, arguments)
            done.set()
    return gaps[0]


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize(("name", "arguments"), [("fail", {"n": -1}), ("some", {"count": 8})])
def test_the_loop_continues_while_calls_wait_for_the_lock(path, name, arguments):
    """The bound exceeds 20 ms for busy machines, and is half the time that waiting on the loop would take."""
    trail = opened(path, lock_timeout=2.0)
    with held(path):
        gaps = [asyncio.run(gap_of_failing_calls(serving(trail), name, arguments, 10)) for _ in range(2)]
    assert min(gaps) < 1.0
    assert trail.lost == 2 * 10 * (1 if name == "fail" else 7)


def test_a_record_on_a_loop_waits_briefly_before_it_is_deferred(path, failure, monkeypatch):
    """Later records do not wait at all while one is deferred."""
    slept: list[float] = []
    monkeypatch.setattr(writer_module, "sleep", lambda seconds: (slept.append(seconds), time.sleep(seconds)))
    trail = opened(path)
    call = Call()

    async def run() -> None:
        record_in(call, trail, *map(failure, range(20)))

    with held(path):
        asyncio.run(run())
        assert sum(slept) < 0.002
    assert (len(call), trail.waiting, trail.lost) == (20, 20, 0)
    asyncio.run(settle(call, pytest.fail))
    assert (len(call), trail.waiting, trail.lost) == (0, 0, 0)
    assert verify(path).records == 20


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
async def test_a_success_is_answered_while_a_failing_call_waits(path):
    """The failing call is answered when the lock is free, after its record is written."""
    trail = opened(path, lock_timeout=60)

    answers: list[Any] = []
    async with Client(serving(trail)) as client, anyio.create_task_group() as group:
        with held(path):
            group.start_soon(failing, client, answers)
            await until(lambda: trail.waiting > 0)
            assert not (await client.call_tool("fail", {"n": 1})).is_error
            assert not answers
    answer = answers[0]
    assert reason(answer) == "gone"
    (record,) = read(path)
    assert record["correlationId"] == answer.structured_content["error"]["correlationId"]
    assert verify(path).ok


@pytest.mark.usefixtures("only_warnings")
@pytest.mark.usefixtures("door")
@pytest.mark.parametrize(
    ("name", "arguments"), [("fail", {"n": -1}), ("some", {"count": 3}), ("some_in_a_thread", {"count": 3})]
)
@pytest.mark.parametrize("policy", ["warn", "refuse"])
def test_after_the_time_limit_the_policy_applies(path, name, arguments, policy, caplog):
    """The answer is sent or withheld; a batch is withheld as a whole, unless a worker thread waited for its items."""
    trail = opened(path, lock_timeout=0.1, policy=policy)
    with held(path):
        answer = ask(Client(serving(trail)), lambda client: client.call_tool(name, arguments))
    assert trail.lost == (1 if name == "fail" else 2)
    assert "another process has held its lock for 0.1 s" in caplog.text
    if policy == "warn":
        assert answer.is_error is (name == "fail")
    elif name == "some_in_a_thread":
        assert [item["error"]["data"]["reason"] for item in answer.structured_content["failed"]] == ["audit_failed"] * 2
    else:
        assert answer.is_error
        assert reason(answer) == "audit_failed"
        assert "could not be recorded" in caplog.text
    trail.record({"tool": "later"})
    assert verify(path).ok


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("surface", ["resource", "prompt", "unknown tool"])
@pytest.mark.parametrize("is_freed", [True, False])
def test_resources_prompts_and_unknown_tools_also_wait(path, surface, is_freed):
    """Their errors are sent once recorded, and withheld if they cannot be."""
    trail = opened(path, lock_timeout=60 if is_freed else 0.05, policy="refuse")

    requests: dict[str, Callable[[Client], Any]] = {
        "resource": lambda client: client.read_resource("res://one"),
        "prompt": lambda client: client.get_prompt("ask"),
        "unknown tool": lambda client: client.call_tool("nothing", {}),
    }

    async def run() -> None:
        async with Client(serving(trail)) as client:
            await requests[surface](client)

    with pytest.raises(BaseExceptionGroup) as caught:
        asyncio.run(_grouped(run, path, trail, is_freed=is_freed))
    error = _only(caught.value)
    assert error.error.data["error"].get("data", {}).get("reason") == (
        ("unknown_tool" if surface == "unknown tool" else None) if is_freed else "audit_failed"
    )
    assert len(messages(path)) == int(is_freed)


async def _grouped(run: Any, path: Path, trail: AuditTrail, *, is_freed: bool) -> None:
    async with anyio.create_task_group() as group:
        with held(path):
            group.start_soon(run)
            await until(lambda: (trail.waiting if is_freed else trail.lost) > 0)


def _only(exc: BaseException) -> Any:
    while isinstance(exc, BaseExceptionGroup):
        (exc,) = exc.exceptions
    return exc


@pytest.mark.parametrize("kind", ["a scope", "the task", "a lost record"])
def test_a_cancelled_call_does_not_lose_its_record(path, failure, kind):
    """The record is written when the lock is free, or counted as lost after its time limit."""
    trail = opened(path, lock_timeout=0.1 if kind == "a lost record" else 60)

    async def call() -> None:
        waiting = Call()
        record_in(waiting, trail, failure(1))
        await settle(waiting, pytest.fail)
        await anyio.sleep(60)

    async def run() -> None:
        with held(path):
            if kind == "a scope":
                async with anyio.create_task_group() as group:
                    group.start_soon(call)
                    await anyio.sleep(0.01)
                    group.cancel_scope.cancel()
                    with anyio.CancelScope(shield=True):
                        await anyio.sleep(0.05)
                        assert trail.waiting == 1
                    release.set()
                return
            task = asyncio.create_task(call())
            await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.sleep(0.05 if kind == "the task" else 0.5)
            assert task.done() is (kind == "a lost record")
        with pytest.raises(asyncio.CancelledError):
            await task

    release = threading.Event()
    if kind == "a scope":
        # The group ends when the record is written, so a thread releases the lock.
        lock_path(path).touch()
        file = lock_path(path).open("wb")
        fcntl.flock(file, fcntl.LOCK_EX)

        def let_go() -> None:
            release.wait(60)
            file.close()

        thread = threading.Thread(target=let_go)
        thread.start()
        with pytest.MonkeyPatch.context() as patched:
            patched.setitem(globals(), "held", _nothing)
            asyncio.run(run())
        thread.join()
    else:
        asyncio.run(run())
    assert (trail.lost, len(messages(path))) == ((1, 0) if kind == "a lost record" else (0, 1))
    assert trail.waiting == 0


@contextmanager
def _nothing(path: Path) -> Iterator[None]:
    yield


@pytest.mark.parametrize("policy", ["warn", "refuse"])
def test_a_loop_that_is_torn_down_counts_unwritten_records(path, failure, monkeypatch, policy):
    """An interrupt does not wait: each record is tried once more, or counted as lost and reported."""
    trail = opened(path, policy=policy)
    call = Call()
    errors: list[Exception] = []

    async def run() -> None:
        record_in(call, trail, failure(1), failure(2))
        monkeypatch.setattr(
            "mcpcore.audit.trail.anyio.sleep", mock.create_autospec(anyio.sleep, side_effect=KeyboardInterrupt)
        )
        await settle(call, errors.append)

    with held(path), pytest.raises(KeyboardInterrupt):
        asyncio.run(run())
    assert (trail.lost, trail.waiting, len(call)) == (2, 0, 0)
    assert [type(error) for error in errors] == ([AuditError] * 2 if policy == "refuse" else [])


@pytest.mark.usefixtures("door")
def test_a_filter_that_raises_does_not_prevent_a_delayed_answer(path, caplog):
    """The error is logged, as without a delay."""
    trail = opened(path, lock_timeout=60)
    logger = logging.getLogger("mcpcore.audit")

    def raises(record: logging.LogRecord) -> bool:
        raise RuntimeError("the filter is broken")

    async def run() -> Any:
        answers: list[Any] = []
        async with Client(serving(trail)) as client, anyio.create_task_group() as group:
            with held(path):
                group.start_soon(failing, client, answers)
                await until(lambda: trail.waiting > 0)
        return answers[0]

    logger.addFilter(raises)
    try:
        answer = asyncio.run(run())
    finally:
        logger.removeFilter(raises)
    assert reason(answer) == "gone"
    assert "recording a failure went wrong" in caplog.text


@pytest.mark.anyio
async def test_many_records_of_one_call_yield_to_the_loop(path, failure, monkeypatch):
    """They are written in batches of a few milliseconds."""
    monkeypatch.setattr("mcpcore.audit.trail._TURN", 0.0)
    trail = opened(path)
    call = Call()
    turns = 0

    with held(path):
        record_in(call, trail, *map(failure, range(10)))
    task = asyncio.create_task(settle(call, pytest.fail))
    while not task.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 9
    assert verify(path).records == 10


def test_a_thread_waiting_for_the_lock_blocks_no_other_thread(path, failure):
    """Calls that need no lock return immediately, and so does a single attempt."""
    trail = opened(path, lock_timeout=60)
    thread = threading.Thread(target=trail.record, args=(failure(1),))
    with held(path):
        thread.start()
        time.sleep(0.05)
        began = time.perf_counter()
        assert trail.head is None
        assert trail._writer.append("{}") is None
        assert time.perf_counter() - began < 1
    thread.join()
    assert verify(path).records == 1


def test_two_waiting_threads_both_write_their_records(path, failure):
    """The wait for the mutex has the same limit as the wait for the lock."""
    trail = opened(path, lock_timeout=0.05, policy="refuse")
    with trail._writer._mutex:
        failed: list[Exception] = []

        def record() -> None:
            try:
                trail.record(failure(1))
            except AuditError as exc:
                failed.append(exc)

        thread = threading.Thread(target=record)
        thread.start()
        thread.join(10)
        assert not thread.is_alive()
    assert len(failed) == 1
    trail.record(failure(2))
    assert verify(path).ok


def test_a_lock_held_at_the_start_is_reported(path):
    """It is reported like any other reason why the trail cannot be written."""
    opened(path).close()
    with held(path), pytest.raises(AuditError, match="another process has held its lock"):
        opened(path, policy="refuse", lock_timeout=0.05)


def lock_all(names: list[Path]) -> int:
    """Lock each readable file in every way that a reader can, and return their number."""
    locked = 0
    for name in names:
        try:
            fd = os.open(name, os.O_RDONLY)
        except PermissionError:
            continue
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        locked += 1
    return locked


@contextmanager
def reading_process(names: list[Path]) -> Iterator[int]:
    """Start a process that may only read the files, locks them, and returns how many it could open."""
    answers, answer = os.pipe()
    wait, done = os.pipe()
    child = os.fork()
    if not child:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            os.close(done)
            os.write(answer, bytes([lock_all(names)]))
            os.read(wait, 1)
        finally:
            os._exit(0)
    os.close(wait)
    os.close(answer)
    try:
        yield os.read(answers, 1)[0]
    finally:
        os.close(done)
        os.close(answers)
        os.waitpid(child, 0)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_that_may_only_read_the_trail_cannot_hold_its_lock(failure):
    """It can lock the trail and the head in any way, but cannot open the lock file."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "audit.jsonl"
        with opened(path, policy="refuse", lock_timeout=0.2) as trail:
            trail.record(failure(1))
            for file in (path, head_path(path)):
                file.chmod(0o644)
            with reading_process([path, head_path(path), lock_path(path)]) as locked:
                assert locked == 2
                trail.record(failure(2))
                trail.close()
                trail.record(failure(3))
                assert verify(path).records == 3
        assert lock_path(path).stat().st_mode & 0o777 == 0o200


def test_a_lock_file_readable_by_others_is_closed_to_them(path, failure):
    """This can happen after chmod -R; any process that may write the trail may open its lock."""
    with opened(path) as trail:
        trail.record(failure(1))
    path.chmod(0o664)
    lock_path(path).chmod(0o664)
    with opened(path) as trail:
        trail.record(failure(2))
    assert lock_path(path).stat().st_mode & 0o777 == 0o220


def test_a_deleted_lock_file_is_created_again(path, failure):
    """The next writer creates it, so all writers share the same one."""
    with opened(path) as first, opened(path) as second:
        for number in range(4):
            first.record(failure(number))
            lock_path(path).unlink()
            second.record(failure(number))
    assert verify(path).records == 8
    assert lock_path(path).exists()


def test_a_briefly_held_lock_defers_nothing(path, failure, monkeypatch):
    """Another process may be in the middle of a record."""
    monkeypatch.setattr("mcpcore.audit.trail._MOMENT", 30.0)
    trail = opened(path)
    call = Call()

    async def run() -> None:
        record_in(call, trail, failure(1))

    with held(path):
        thread = threading.Thread(target=asyncio.run, args=(run(),))
        thread.start()
        time.sleep(0.02)
    thread.join()
    assert (len(call), verify(path).records) == (0, 1)


@pytest.mark.anyio
async def test_a_disk_error_while_a_call_waits_is_reported(tmp_path, failure):
    """The record is lost for that reason, and the policy applies."""
    folder = tmp_path / "logs"
    folder.mkdir()
    trail = opened(folder / "audit.jsonl", policy="refuse")
    call = Call()
    errors: list[Exception] = []

    with held(folder / "audit.jsonl"):
        record_in(call, trail, failure(1))
    folder.rename(tmp_path / "away")
    await settle(call, errors.append)
    assert "ENOENT" in str(errors[0])
    assert trail.lost == 1


@pytest.mark.usefixtures("door")
def test_a_resource_that_records_for_itself_is_withheld_by_policy(path, failure):
    """It succeeded, but the client gets a protocol error."""
    trail = opened(path, policy="refuse", lock_timeout=0.05)
    server = Server("s", audit=trail)

    @server.resource("res://two")
    async def two() -> str:
        trail.record(failure(1))
        return "fine"

    with held(path), pytest.raises(MCPError) as caught:
        ask(Client(server), lambda client: client.read_resource("res://two"))
    assert caught.value.error.data["error"]["data"]["reason"] == "audit_failed"


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize(("lock_timeout", "policy"), [(30, "refuse"), (0.05, "warn"), (0.05, "refuse")])
def test_a_task_that_fails_after_its_answer_loses_no_record(path, lock_timeout, policy):
    """Its record is written once the lock is free, or counted as lost and reported like any other."""
    trail = opened(path, lock_timeout=lock_timeout, policy=policy)
    server: Server[Any] = Server("s", audit=trail)
    tasks: list[asyncio.Task[None]] = []
    answered = asyncio.Event()

    @server.tool(errors=ERRORS)
    async def start(ctx: Context[Any]) -> str:
        async def work() -> None:
            await answered.wait()
            trail.record({"tool": "start", "message": "late"})

        tasks.append(asyncio.create_task(work()))
        return "started"

    async def run(release: Callable[[], object]) -> None:
        async with Client(server) as client:
            assert not (await client.call_tool("start", {})).is_error
            threading.Timer(0.2, release).start()
            answered.set()
            if lock_timeout < 1 and policy == "refuse":
                with pytest.raises(AuditError, match="another process has held its lock"):
                    await tasks[0]
            else:
                await tasks[0]

    with lock_path(path).open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        asyncio.run(run(lambda: fcntl.flock(file, fcntl.LOCK_UN)))
        time.sleep(0.3)
    assert (trail.waiting, trail.lost) == (0, 0 if lock_timeout > 1 else 1)
    assert messages(path) == (["late"] if lock_timeout > 1 else [])
