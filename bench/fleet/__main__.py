"""The figures of docs/how-to/fleet.md: `python -m bench.fleet [RECORDS] [FOLDER]`.

Writes a trail of RECORDS (default: ten million) to FOLDER, loads it into an embedded store and times each question, as
a user at a terminal does: one process a question, its start included. The files are asked the same about the first
million records, since ten million would take them most of an hour. A FOLDER that is named is kept, and its trails are
used again.
"""

from __future__ import annotations

import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from mcpcore.audit.chain import GENESIS, Signer

RESULTS: Final = Path(__file__).parents[1] / "results"
FEW: Final = 1_000_000
MANY: Final = 10_000_000
START: Final = 1_760_000_000.0
REASONS: Final = (
    ("no_match", "NOT_FOUND", -32001),
    ("queue_full", "RATE_LIMITED", -32003),
    ("upstream_down", "SERVICE_UNAVAILABLE", -32000),
    ("invalid_arguments", "INVALID_PARAMS", -32602),
    (None, "INTERNAL_ERROR", -32603),
)
WEEK: Final = ("--since", "2025-10-13", "--until", "2025-10-20")
QUESTIONS: Final[tuple[tuple[str, ...], ...]] = (
    ("stats",),
    ("stats", *WEEK),
    ("stats", "--tool", "tool_7"),
    ("show", "--reason", "no_match", "--since", "2025-10-13T08:00", "--until", "2025-10-13T09:00"),
    ("show", "--id", "00000000000f"),
    ("tail", "-n", "10"),
)


class Run(NamedTuple):
    """A command that has ended."""

    seconds: float
    """By the clock."""
    processor: float
    """Seconds of CPU, of all its threads."""
    megabytes: int
    """Peak of its memory."""
    output: bytes

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s ({self.processor:.1f} of CPU), {self.megabytes} MB"


def write(path: Path, count: int) -> None:
    """A trail of `count` failures, about one a second, sealed as a server seals them."""
    random.seed(20)
    signer, prev, moment = Signer(None), GENESIS, START
    with path.open("wb", 1 << 20) as file:
        for seq in range(1, count + 1):
            moment += random.random() * 2
            reason, name, code = random.choice(REASONS)
            stamp = datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")[:-6]
            payload = (
                f'{{"timestamp":"{stamp}Z","server":"articles","tool":"tool_{random.randrange(40)}","surface":"tool",'
                f'"code":{code},"name":"{name}","reason":{json.dumps(reason)},"message":"No PMID returned data.",'
                f'"retry":{{"kind":"not_retryable"}},"correlationId":"{seq:016x}",'
                f'"context":{{"session_id":"{random.getrandbits(64):016x}"}},"data":{{"pmids":["{seq}","2"]}}}}'
            )
            line, prev = signer.seal(seq, prev, payload, begins=True if seq == 1 else None)
            file.write(line)


def run(*arguments: object) -> Run:
    """One command, with its peak memory."""
    command = [sys.executable, "-m", "mcpcore", "audit", *map(str, arguments)]
    with tempfile.TemporaryFile() as out:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        took = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{command} exited {process.returncode}")
        out.seek(0)
        return Run(took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024, out.read())


def loaded(trail: Path, store: Path) -> Run:
    shutil.rmtree(store, ignore_errors=True)
    return run("load", trail, "--store", store)


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) >> 20


def loading(rate_few: float, rate_many: float, many: int, again: Run) -> str:
    return (
        f"Loading: {rate_few:,.0f} records a second for few, {rate_many:,.0f} for many; the same {many:,} once more "
        f"took {again.seconds:.0f} s and added none."
    )


def sizes(plain: int, stored: int) -> str:
    return (
        f"The trail has {plain:,} MB, the store {stored:,} MB right after both loads. Each figure is one process from "
        "its start to its end, with its peak memory, and each answer about the first million records is compared byte "
        f"by byte; Python {platform.python_version()}, {os.cpu_count()} cores, which had "
        f"a load of {os.getloadavg()[2]:.1f} in the last 15 minutes, this bench included."
    )


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else MANY
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[2] if len(sys.argv) > 2 else temporary)
        folder.mkdir(exist_ok=True)
        trail, few = folder / "many.jsonl", folder / "few.jsonl"
        if not trail.exists():
            write(trail, many)
        with trail.open("rb") as source, few.open("wb") as target:
            for _ in range(min(FEW, many)):
                target.write(source.readline())
        rows = []
        small = loaded(few, folder / "few")
        rows.append(("load", None, small, None))
        for question in QUESTIONS:
            files, store = run(*question, few), run(*question, "--store", folder / "few")
            if files.output != store.output:
                raise SystemExit(f"{question}: the files and the store answer differently")
            rows.append((" ".join(question), files, store, None))
        big = loaded(trail, folder / "many")
        again = run("load", trail, "--store", folder / "many")
        rows[0] = ("load", None, small, big)
        rows = [rows[0], *((*row[:3], run(*row[0].split(), "--store", folder / "many")) for row in rows[1:])]
        report(rows, many, again, trail.stat().st_size >> 20, size_of(folder / "many" / "store"))


def report(rows: list[tuple[str, Run | None, Run, Run]], many: int, again: Run, plain: int, stored: int) -> None:
    few = min(FEW, many)
    lines = [
        f"| command | files, {few:,} records | store, {few:,} records | ratio | store, {many:,} records |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, files, small, big in rows:
        ratio = "" if files is None else f"{files.seconds / small.seconds:.1f}"
        lines.append(f"| `{name}` | {files or ''} | {small} | {ratio} | {big} |")
    _, _, small, big = rows[0]
    lines += ["", loading(few / small.seconds, many / big.seconds, many, again), sizes(plain, stored), ""]
    (RESULTS / "fleet.md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
