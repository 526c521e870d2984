"""Measures the linter and its peers on a generated tree, or on a given one: `python -m bench.lint [TREE]`.

Prints each figure with its limit, and the peers as ratios; writes them to bench/results/lint.json. Times are the best
of several runs, since other programs only ever add; exits 1 where a limit is broken. The peers that take minutes for
the whole tree are measured on a part of it and compared by lines a second.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.conditions import conditions
from bench.lint.tree import Tree, generate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT: Final = Path(__file__).parents[2]
RESULTS: Final = ROOT / "bench" / "results" / "lint.json"
PEERS: Final = ROOT / ".venv-peers" / "bin"

LIMITS: Final = {
    "cold": 3.0,
    "warm": 0.3,
    "one changed file": 0.4,
    "editor": 0.25,
}
"""Seconds."""
HELPER: Final = 0.3
"""The share of a cold run that a run may take after an edit of a file that files with tools import."""
MEMORY: Final = 400
"""Megabytes, over all processes."""
FIXIT: Final = 20.0
"""How many times faster than Fixit at least."""
RUFF: Final = 3.0
"""How many times slower than ruff at most, both cold."""


@dataclass(frozen=True)
class Timed:
    """The best of some runs of a command."""

    seconds: float
    cpu: float
    megabytes: float
    output: str


def memory_of(pid: int) -> int:
    """What a process and its children hold in memory, shared pages counted once, in kilobytes."""
    total = 0
    pids = [pid]
    while pids:
        process = pids.pop()
        try:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
            children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
        pids.extend(int(child) for child in children)
    return total


def run(command: Sequence[str], *, cwd: Path, stdin: bytes | None = None, watch: bool = False) -> Timed:
    """Run a command once."""
    peak = 0
    done = threading.Event()

    def poll(pid: int) -> None:
        nonlocal peak
        while not done.wait(0.02):
            peak = max(peak, memory_of(pid))

    before = os.times()
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.PIPE if stdin is not None else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    watcher = threading.Thread(target=poll, args=(process.pid,), daemon=True)
    if watch:
        watcher.start()
    output, _ = process.communicate(stdin)
    seconds = time.perf_counter() - start
    done.set()
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    if process.returncode not in {0, 1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 30}:
        raise SystemExit(
            f"{' '.join(command)} ended with {process.returncode}:\n{output.decode(errors='replace')[-2000:]}"
        )
    return Timed(seconds, cpu, peak / 1024, output.decode(errors="replace"))


def best(measure: Callable[[], Timed], rounds: int) -> Timed:
    """The fastest of some rounds."""
    return min((measure() for _ in range(rounds)), key=lambda timed: timed.seconds)


def in_turns(*measures: Callable[[], Timed], rounds: int) -> list[Timed]:
    """The fastest of some rounds for each; one after the other in each round, so that what slows one slows all."""
    return [
        min(runs, key=lambda timed: timed.seconds)
        for runs in zip(*([measure() for measure in measures] for _ in range(rounds)), strict=True)
    ]


class Bench:
    """The measurements over one tree."""

    def __init__(self, tree: Tree, sample: Path, work: Path, rounds: int) -> None:
        self.tree = tree
        self.sample = sample
        self.work = work
        self.rounds = rounds
        self.figures: dict[str, Any] = {}
        self.broken: list[str] = []
        os.environ["MCPCORE_CACHE_DIR"] = str(work / "cache")
        self.lint = [str(Path(sys.executable).with_name("mcpcore")), "lint"]

    def ours(self) -> None:
        """The linter by itself."""
        root = self.tree.root
        cold = best(lambda: run([*self.lint, "--no-cache", "."], cwd=root), self.rounds)
        self.figures["memory"] = round(run([*self.lint, "--no-cache", "."], cwd=root, watch=True).megabytes)
        run([*self.lint, "."], cwd=root)
        # What changed within the last moment is not trusted by its time: let that moment pass.
        time.sleep(0.3)
        run([*self.lint, "."], cwd=root)
        warm = best(lambda: run([*self.lint, "."], cwd=root), max(self.rounds, 5))
        edited: dict[str, Timed] = {}
        numbers = iter(range(1000))
        for name, pattern in (("one changed helper", "service_*.py"), ("one changed file", "tools_*.py")):
            targets = sorted(root.rglob(pattern))
            target = targets[len(targets) // 2]
            text = target.read_text()

            def changed(target: Path = target, text: str = text) -> Timed:
                target.write_text(f"{text}\n# {next(numbers)}\n")
                return run([*self.lint, "."], cwd=root)

            edited[name] = best(changed, max(self.rounds, 5))
            target.write_text(text)
        editor = best(
            lambda: run([*self.lint, "--stdin-filename", str(target), "-"], cwd=root, stdin=text.encode()),
            max(self.rounds, 5),
        )
        for name, timed in {"cold": cold, "warm": warm, **edited, "editor": editor}.items():
            self.figures[name] = {"seconds": round(timed.seconds, 3), "cpu": round(timed.cpu, 3)}
            self.show(name, timed.seconds, LIMITS[name] if name in LIMITS else HELPER * cold.seconds)
        print(f"  {'memory':<28}{self.figures['memory']:>9} MB {'':>6} limit {MEMORY} MB")
        if self.figures["memory"] > MEMORY:
            self.broken.append(f"memory is {self.figures['memory']} MB, and may be {MEMORY} MB")
        print(f"  {'lines a second, cold':<28}{self.tree.lines / cold.seconds:>12,.0f}")

    def show(self, name: str, seconds: float, limit: float) -> None:
        """Print a time beside its limit."""
        print(f"  {name:<28}{seconds:>9.3f} s  {'':>6} limit {limit:g} s")
        if seconds > limit:
            self.broken.append(f"{name} takes {seconds:.3f} s, and may take {limit:g} s")

    def peers(self) -> None:
        """The peers: ruff over the whole tree, the others over a part of it."""
        root = self.tree.root
        ruff = [str(PEERS / "ruff"), "check", "--isolated", "--quiet"]
        mine, ruff_cold = in_turns(
            lambda: run([*self.lint, "--no-cache", "."], cwd=root),
            lambda: run([*ruff, "--no-cache", "."], cwd=root),
            rounds=max(self.rounds, 10),
        )
        cold, ratio = mine.seconds, mine.seconds / ruff_cold.seconds
        cache = ["--cache-dir", str(self.work / "ruff")]
        run([*ruff, *cache, "."], cwd=root)
        run([*self.lint, "."], cwd=root)
        # As above: the cache trusts a file only some time after its last change.
        time.sleep(0.3)
        run([*self.lint, "."], cwd=root)
        mine_warm, ruff_warm = in_turns(
            lambda: run([*self.lint, "."], cwd=root),
            lambda: run([*ruff, *cache, "."], cwd=root),
            rounds=max(self.rounds, 20),
        )
        times_warm = mine_warm.seconds / ruff_warm.seconds
        self.figures["ruff"] = {
            "cold": round(ruff_cold.seconds, 3),
            "warm": round(ruff_warm.seconds, 3),
            "times cold": round(ratio, 2),
            "times warm": round(times_warm, 2),
        }
        print("  in turns with ruff:")
        print(f"  {'cold':<28}{cold:>9.3f} s   ruff {ruff_cold.seconds:.3f} s: {ratio:.2f} times (limit {RUFF:g})")
        print(f"  {'warm':<28}{mine_warm.seconds:>9.3f} s   ruff {ruff_warm.seconds:.3f} s: {times_warm:.2f} times")
        if ratio > RUFF:
            self.broken.append(f"cold takes {ratio:.2f} times as long as ruff, and may take {RUFF:g} times")
        if times_warm > 1:
            self.broken.append(f"warm takes {mine_warm.seconds:.3f} s, and ruff {ruff_warm.seconds:.3f} s")
        lines = sum(path.read_bytes().count(b"\n") for path in self.sample.rglob("*.py"))
        part = best(lambda: run([*self.lint, "--no-cache", "."], cwd=self.sample), self.rounds)
        print(f"  on {lines:,} of the lines: the linter {part.seconds:.2f} s")
        commands = {
            "fixit": [str(PEERS / "fixit"), "--quiet", "lint", "."],
            "flake8": [str(PEERS / "flake8"), "--isolated", "--jobs", "2", "."],
            "pylint": [
                str(PEERS / "pylint"),
                "--jobs",
                "2",
                "--disable=import-error",
                "--score=n",
                "--recursive=y",
                ".",
            ],
        }
        for name, command in commands.items():
            timed = run(command, cwd=self.sample)
            times = (timed.seconds / lines) / (cold / self.tree.lines)
            self.figures[name] = {
                "sample_seconds": round(timed.seconds, 3),
                "sample_lines": lines,
                "times": round(times, 1),
            }
            print(f"  {name:<28}{timed.seconds:>9.3f} s   {times:,.0f} times as long a line as the linter's whole run")
            if name == "fixit" and times < FIXIT:
                self.broken.append(f"the linter is {times:.1f} times faster than Fixit, and should be {FIXIT:g} times")

    def growth(self) -> None:
        """A tree of 4,000,000 lines, against the time that the first one leads to expect."""
        big = generate(
            self.work / "big", files=self.tree.files * 4_000_000 // self.tree.lines, lines=3_750_000, seed=11
        )
        # The tree is still on its way to the disk, and the first run is the one that waits for it.
        os.sync()
        timed = best(lambda: run([*self.lint, "--no-cache", "."], cwd=big.root, watch=True), 2)
        ratio = timed.seconds / (self.figures["cold"]["seconds"] * big.lines / self.tree.lines)
        self.figures["growth"] = {
            "lines": big.lines,
            "seconds": round(timed.seconds, 3),
            "memory": round(timed.megabytes),
            "of_linear": round(ratio, 2),
        }
        print(
            f"  {f'{big.lines:,} lines':<28}{timed.seconds:>9.3f} s   {ratio:.2f} of linear; {timed.megabytes:.0f} MB"
        )
        if ratio > 1.3:
            self.broken.append(f"{big.lines:,} lines take {ratio:.2f} times what linear growth would")
        shutil.rmtree(big.root)


def main() -> int:
    """Measure, print, write the results."""
    parser = argparse.ArgumentParser(prog="python -m bench.lint", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("tree", nargs="?", type=Path, help="measure on this folder instead of a generated one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--growth", action="store_true", help="measure on 4,000,000 lines too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        if arguments.tree is None:
            tree = generate(work / "tree")
        else:
            root = arguments.tree.resolve()
            files = list(root.rglob("*.py"))
            tree = Tree(root, len(files), sum(path.read_bytes().count(b"\n") for path in files), 0)
        print(f"{tree.files:,} files, {tree.lines:,} lines, {tree.tool_files} files with tools")
        folders = sorted(path for path in tree.root.rglob("*") if path.is_dir() and any(path.glob("*.py")))
        sample = work / "sample"
        shutil.copytree(folders[len(folders) // 2], sample / "part")
        bench = Bench(tree, sample, work, arguments.rounds)
        bench.ours()
        if not arguments.no_peers:
            bench.peers()
        if arguments.growth:
            bench.growth()
    if arguments.tree is None:
        record = {
            **conditions(),
            "tree": {"files": tree.files, "lines": tree.lines, "tool_files": tree.tool_files},
            **bench.figures,
        }
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(record, indent=2) + "\n")
    for figure in bench.broken:
        print(f"OVER THE LIMIT: {figure}")
    return 1 if bench.broken else 0


if __name__ == "__main__":
    sys.exit(main())
