"""`mcpcore fail-report`: what an agent did after the failures that it met."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mcpcore.cli import output
from mcpcore.cli.problems import FAILED, Problem
from mcpcore.reports import counted

if TYPE_CHECKING:
    from mcpcore.testing.fault_report import Met

_COLOURS: Final = {"allowed": "green", "against the advice": "red", "unclear": "yellow"}


@click.command(
    epilog="""\b
  mcpcore run server.py --fail all --fail-log calls.jsonl     let an agent meet every failure
  mcpcore fail-report calls.jsonl                             what it did then

\b
Exit codes: 0 nothing went against the advice; 1 something did; 2 the file is not a log of calls.""",
)
@click.argument("path", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--format", "shape", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_context
def fail_report(ctx: click.Context, path: Path, *, shape: str) -> None:
    """Show each failure in FILE, what the agent did next, and whether the advice allowed that.

    FILE is the log that `--fail-log` of `run` or `proxy` wrote. A repeated call is judged by the advice of the failure:
    whether to repeat it, how long to wait, and where to look first if the failed call may have taken effect. If the log
    is not enough to decide, the verdict is "unclear".
    """
    from mcpcore.testing.fault_report import read_log, report_of

    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            calls = list(read_log(file))
    except OSError as exc:
        raise Problem(f"{path} cannot be read: {exc.strerror or exc}.") from exc
    except ValueError as exc:
        raise Problem(f"{path}: {exc}.", hint="give the file that `mcpcore run SERVER --fail-log FILE` wrote") from exc
    met = report_of(calls)
    against = sum(failure.verdict == "against the advice" for failure in met)
    if shape == "json":
        output.text(
            output.dumps({"calls": len(calls), "against": against, "failures": [failure.to_json() for failure in met]})
        )
    else:
        for failure in met:
            _print(failure)
        summary = f"{counted(len(calls), 'call')}, {counted(len(met), 'failure')}, {against} against the advice"
        output.line(f"{summary}.")
    ctx.exit(FAILED if against else 0)


def _print(failure: Met) -> None:
    call = failure.call
    injected = " (injected)" if call.get("injected") else ""
    output.line(
        output.styled(call["tool"], bold=True),
        f" failed: {call.get('reason') or call.get('code') or 'unknown'}{injected}",
    )
    output.line(f"    advice: {call.get('advice', '-')}")
    output.line(f"    then it {failure.then}: ", output.styled(failure.verdict, fg=_COLOURS[failure.verdict]))
