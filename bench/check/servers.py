"""What `mcpcore check` and `mcp-fuzz`, the fuzzer of mcp-doctor, say of the same public servers.

`python -m bench.check.servers --bin DIR [--bin DIR ...] [--fuzz COMMAND]` looks for the servers of
`bench.proxy.servers` in the folders, checks each with both programs in a new folder, and writes
bench/results/check-servers.md. Both call every tool, also those that may change something, since most of these servers
annotate nothing. mcp-fuzz is in the package `mcp-runtime-check` of PyPI.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.proxy.servers import CASES, KUBECONFIG, RESULTS, Case, filled
from mcpcore.check.rules import QUESTIONS

TIMEOUT = 20
LIMIT = 400


def run(command: list[str], case: Case, work: str) -> tuple[Any, float]:
    """The JSON that a program prints, and the seconds that it takes; None if it prints none."""
    env = {**os.environ, **filled(case.env, work)}
    began = time.monotonic()
    report = None
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=work, timeout=LIMIT, check=False)
        report = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError) as exc:
        print(f"{case.package}: {command[0]} gave no report: {exc}", file=sys.stderr)
    return report, time.monotonic() - began


def folder(work: str) -> None:
    """A folder with what the servers need."""
    subprocess.run(["git", "init", "-q", f"{work}/repo"], check=True)
    Path(work, "kubeconfig").write_text(KUBECONFIG)


def own(report: Any) -> str:
    """The columns of `mcpcore check`."""
    if report is None:
        return f"no report{' |' * (len(QUESTIONS) + 1)} "
    levels = {finding["rule"]: finding["level"] for finding in report["findings"] if finding["level"] != "note"}
    rules = ", ".join(f"**{rule}**" if level == "error" else rule for rule, level in levels.items())
    grades = " | ".join(report["grades"][name]["grade"] for name in QUESTIONS)
    stopped = f", stopped: {report['summary']['stopped']}" if report["summary"]["stopped"] else ""
    return f"{report['summary']['called']} of {len(report['tools'])} tools{stopped} | {grades} | {rules}"


def peer(report: Any) -> str:
    """The columns of the peer."""
    if report is None:
        return "no report | "
    if report.get("connect_error"):
        return "cannot connect | "
    percent = report["crash_resilience_percent"]
    score = "none" if percent is None else f"{percent:g} %"
    issues = sum(bool(tool.get("valid_call_issue")) for tool in report["tools"])
    words = "{total_bad_input_cases} bad calls: {crash_count} crashes, {timeout_count} hangs"
    return f"{score} | {words.format_map(report)}; {issues} valid calls that failed"


def main() -> int:
    """Make the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", action="append", default=[], help="a folder with the commands of servers")
    parser.add_argument("--fuzz", default="mcp-fuzz", help="the command of the peer")
    parser.add_argument("--only", action="append", default=[], help="a package; all by default")
    options = parser.parse_args()
    path = os.pathsep.join([*options.bin, os.environ.get("PATH", "")])
    os.environ["PATH"] = path
    rows, missing = [], []
    for case in CASES:
        command = shutil.which(case.command[0], path=path)
        if command is None or (options.only and case.package not in options.only):
            missing.append(case.package)
            continue
        columns, times = [], []
        for describe, program in (
            (own, [sys.executable, "-m", "mcpcore", "check", "--all", "--yes", "--format", "json", "--limit", "300"]),
            (peer, [options.fuzz, "--include-destructive", "--json"]),
        ):
            with tempfile.TemporaryDirectory() as work:
                folder(work)
                words = [*program, "--timeout", str(TIMEOUT)]
                if describe is peer:
                    pairs = {"PATH": path, **filled(case.env, work)}
                    words += [part for name, value in pairs.items() for part in ("--env", f"{name}={value}")]
                report, seconds = run([*words, "--", command, *filled(case.command[1:], work)], case, work)
            columns.append(describe(report))
            times.append(f"{seconds:.0f} s")
        rows.append(f"| {case.package} ({case.language}) | {' | '.join(columns)} | {' and '.join(times)} |")
        print(rows[-1], flush=True)
    head = (
        f"| server | tools called | {' | '.join(QUESTIONS)} | what mcpcore check finds, errors in bold | "
        "mcp-fuzz: crash resilience | what mcp-fuzz finds | time |\n"
        f"|---|---|{'---|' * len(QUESTIONS)}---|---:|---|---|\n"
    )
    (RESULTS / "check-servers.md").write_text(head + "\n".join(rows) + "\n")
    if missing:
        print(f"not found: {', '.join(missing)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
