"""What failures with huge values cost: `python -m bench.runtime.bounds [CASE...]` prints a line for each.

Each case runs in a new process, with a trail in a file: one call of a tool that fails with the value. The value
is made before the measurement begins. The exit code is 1 where a case takes more time or memory than it may.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import subprocess
import sys
import tempfile
import time
from collections import UserDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any

from mcp import Client
from pydantic import BaseModel

from mcpcore import CodedError, ErrorCode, FailureMode, Server, not_found, tool

SECONDS = 0.5
KIB = 50 * 1024

_MIB = 1024 * 1024
_TEXT = 200 * _MIB


class Text(str):  # noqa: SLOT000 - as anybody writes it
    """A subclass of str."""


class Rows(BaseModel):
    """A model with many rows."""

    rows: list[dict[str, str]]


@dataclass
class Page:
    """A dataclass with a long text."""

    body: str


class Endless(Mapping[str, str]):
    """A mapping that makes each item when it is read."""

    def __getitem__(self, key: str) -> str:
        return key * _MIB

    def __iter__(self) -> Iterator[str]:
        return iter(map(chr, range(97, 10_000)))

    def __len__(self) -> int:
        return 9_903


class LongDate(date):
    """A date with a long text."""

    def isoformat(self) -> str:
        """As if of the far future."""
        return _LONG_DATE


_LONG_DATE = "9" * 50_000_000


def _text() -> str:
    return "x" * _TEXT


def _hostile() -> str:
    return "\n\u202e\u00e9\x1b" * (_TEXT // 4)


def _shared() -> list[str]:
    return ["\u00e9" * _MIB] * 2_000


def _rows() -> list[dict[str, str]]:
    return [{"row": f"{number}-" + "y" * 100_000} for number in range(2_000)]


def _deep() -> Any:
    value: Any = "z" * _MIB
    for number in range(1_000):
        value = {"k" * 1_000: [value, value, number]}
    return value


def _fail(data: Any) -> CodedError:
    return not_found("There is nothing.", data)


def _recovered(recovery: Any) -> CodedError:
    return not_found("Nothing.", recovery=recovery)


def _noted(text: str) -> BaseException:
    failed = ValueError("noted")
    failed.add_note(text)
    return failed


# For each case, what makes its value, and what makes the failure with it.
CASES: dict[str, tuple[Callable[[], Any], Callable[[Any], BaseException]]] = {
    "a text in data": (lambda: {"body": _text(), "id": 7}, _fail),
    "a hostile text in data": (lambda: {"body": _hostile()}, _fail),
    "a text listed often": (lambda: {"pages": _shared()}, _fail),
    "many rows": (lambda: {"rows": _rows()}, _fail),
    "bytes": (lambda: {"image": bytes(_TEXT)}, _fail),
    "a view of bytes": (lambda: {"image": memoryview(bytearray(_TEXT))}, _fail),
    "a kind of text": (lambda: {"body": Text(_text())}, _fail),
    "a model": (lambda: Rows(rows=_rows()), _fail),
    "a dataclass": (lambda: Page(_text()), _fail),
    "a custom mapping": (lambda: UserDict({"body": _text(), "more": _rows()}), _fail),
    "a mapping that makes its items": (Endless, _fail),
    "long keys": (lambda: {chr(97 + number) * _MIB: number for number in range(200)}, _fail),
    "deep and wide": (_deep, _fail),
    "many numbers": (lambda: {"numbers": list(range(5_000_000))}, _fail),
    "many keys": (lambda: {str(number): number for number in range(2_000_000)}, _fail),
    "long numbers": (lambda: {"int": 1 << 3_400_000, "decimal": Decimal("1" * 20_000_000)}, _fail),
    "a set of texts": (lambda: {"set": {f"{number}" + "s" * 100_000 for number in range(2_000)}}, _fail),
    "a set of tuples": (lambda: {"set": {(f"{number}" + "s" * 100_000, number) for number in range(2_000)}}, _fail),
    "a message": (_text, not_found),
    "a hostile message": (_hostile, not_found),
    "a blank message": (lambda: " " * _TEXT, not_found),
    "a hint": (lambda: " " + _text(), _recovered),
    "a recovery": (
        lambda: {"hint": "Wait.", "correctiveParams": {"q": _text()}, "actions": _shared()},
        _recovered,
    ),
    "a custom recovery": (
        lambda: UserDict({"hint": _text(), "actions": _shared()}),
        _recovered,
    ),
    "a recovery with many keys": (
        lambda: {"hint": "Wait.", **{f"k{number}": number for number in range(1_000_000)}},
        _recovered,
    ),
    "a date with a long text": (lambda: {"day": LongDate(2026, 1, 1)}, _fail),
    "a long path": (lambda: {"path": PurePosixPath("a/" * 5_000_000)}, _fail),
    "a reason": (_text, lambda text: not_found("Nothing.", reason=text)),
    "a reason in data": (lambda: {"reason": _text()}, _fail),
    "a crash with a text": (_text, ValueError),
    "a crash with a hostile text": (_hostile, ValueError),
    "a crash with arguments": (lambda: (_rows(), _text()), lambda args: ValueError(*args)),
    "a crash with a key": (_text, KeyError),
    "a crash with a note": (_text, _noted),
    "a crash with causes": (
        lambda: [ValueError(_text()), KeyError("k" * _MIB)],
        lambda causes: ExceptionGroup("several", causes),
    ),
}


@dataclass
class Cost:
    """What a case took."""

    seconds: float
    kib: int
    answered: int
    """Characters of the answer."""
    recorded: int
    """Bytes of the trail."""


def _peak() -> int:
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["VmHWM"].split()[0])


def _size(path: Path) -> int:
    return path.stat().st_size


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


async def measure(name: str) -> Cost:
    """Fail with a huge value; the first failure of a process, which loads more, is not measured."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        trail = Path(folder, "trail.jsonl")
        prepared: list[Callable[[], BaseException]] = [lambda: not_found("warm", {"a": "\u00e9\n" * 100_000})]

        @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look for another one.")])
        def fail() -> str:
            raise prepared[0]()  # noqa: RSE102 - a function that makes the failure

        @tool
        def crash() -> str:
            raise RuntimeError("warm")

        async with Client(Server("bounds", tools=[fail, crash], audit=trail)) as client:
            await client.call_tool("fail", {})
            await client.call_tool("crash", {})
            make, failure = CASES[name]
            value = make()
            prepared[0] = lambda: failure(value)
            gc.collect()
            recorded = _size(trail)
            _forget_peak()
            before, started = _peak(), time.perf_counter()
            result = await client.call_tool("fail", {})
            took, after = time.perf_counter() - started, _peak()
            assert result.is_error
            answer = json.dumps(result.model_dump(mode="json"))
            return Cost(took, after - before, len(answer), _size(trail) - recorded)


def measured(name: str) -> Cost:
    """`measure` in a new process."""
    command = [sys.executable, "-m", "bench.runtime.bounds", "--here", name]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    return Cost(**json.loads(done.stdout))


def main(argv: list[str]) -> int:
    """Measure the cases that are named, or all."""
    if argv[:1] == ["--here"]:
        print(json.dumps(vars(asyncio.run(measure(argv[1])))))
        return 0
    missed = 0
    for name in argv or CASES:
        cost = measured(name)
        met = cost.seconds <= SECONDS and cost.kib <= KIB
        missed += not met
        print(
            f"{name:32} {cost.seconds * 1000:8.1f} ms {cost.kib / 1024:8.1f} MiB {cost.answered:8} sent "
            f"{cost.recorded:8} recorded{'' if met else '  MISSED'}",
            flush=True,
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
