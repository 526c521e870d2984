"""Runs a check: connects, calls each tool, connects again when the server is lost, and stops in time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from mcpcore.check.connection import Connection, Remains, Target, connected, reason_of
from mcpcore.check.judging import Paths, Surroundings, judge, judge_listing
from mcpcore.check.model import SERVER, UNKNOWN_TOOL, Answer, CheckedTool, Probe, ProbeKind, Report, ToolReport, broken
from mcpcore.check.probe_arguments import draw, marker_of
from mcpcore.values.unwrapping import leaves_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Progress = Callable[[int, int, str], None]

# Calls of one tool that may go unanswered, or end the server, before the rest of its calls is left out.
_MOST_LOST: Final = 2

# The last probe of each tool.
_LAST: Final[frozenset[ProbeKind]] = frozenset({"unknown-tool", "cancelled"})


class UnreachableError(Exception):
    """The server could not be reached, or does not list its tools; the message says why.

    Attributes:
        stderr: The end of its standard error.
    """

    def __init__(self, message: str, stderr: str = "") -> None:
        super().__init__(message)
        self.stderr = stderr


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to check.

    Attributes:
        everything: Whether to call tools that may change something, too.
        only: The names of the tools to check; empty for all.
        timeout: Seconds to wait for the connection and for each answer.
        limit: Seconds for the whole check; tools that are not reached in time are reported as not called.
        seed: The seed of the drawn arguments.
    """

    everything: bool = False
    only: frozenset[str] = frozenset()
    timeout: float = 10.0
    limit: float = 600.0
    seed: int = 0


@dataclass(slots=True)
class Check:
    """One check, over as many connections as it takes.

    Attributes:
        target: The server.
        options: How to check.
        report: What was seen so far; complete even if the check was cancelled.
        progress: Called with the number of tools that are done, of all, and the name of the next one.
    """

    target: Target
    options: Options
    report: Report
    progress: Progress = lambda _done, _all, _name: None
    _remains: Remains = field(default_factory=Remains)
    _around: Surroundings = field(default_factory=lambda: Surroundings(names=frozenset(), marker=""))
    _tools: dict[str, CheckedTool] = field(default_factory=dict)
    _work: Iterator[tuple[ToolReport, Probe]] | None = None
    _lost: dict[str, int] = field(default_factory=dict)
    _ends: float = 0.0
    _current: tuple[ToolReport, Probe] | None = None
    _over: bool = False
    _closed: str = ""
    """Why the connection was lost during the current call, in the words of the client; "" if it was not."""

    async def run(self, choose: Callable[[list[CheckedTool]], bool] = lambda _tools: True) -> Report:
        """Check the server.

        Args:
            choose: Asked once before tools are called that may change something; False leaves them out.

        Raises:
            UnreachableError: If the server cannot be reached at first, or does not list its tools.
        """
        while not await self._session(choose):
            pass
        if self._remains.noisy:  # pragma: no cover - not traced by 3.11 after a cancellation: gh-106749
            lines = "; ".join(map(repr, self._remains.noise))
            self.report.add(SERVER, [broken("noise-on-stdout", f"{self._remains.noisy} lines, such as {lines}")])
        return self.report

    async def _session(self, choose: Callable[[list[CheckedTool]], bool]) -> bool:
        """One connection; returns whether the check is over."""
        reached = False
        try:
            async with connected(self.target, self._remains, wait=self.options.timeout) as connection:
                if self._work is None:
                    await self._begin(connection, choose)
                elif not await connection.alive():
                    raise ConnectionError("it does not answer")  # noqa: TRY301 - it ends the connection
                reached = True
                await self._call(connection)
        except Exception as exc:  # transports raise many kinds, and groups of them
            if self._work is None:
                inner = next(leaves_of(exc))
                if isinstance(inner, UnreachableError):
                    raise inner from None
                raise UnreachableError(reason_of(inner), self._remains.stderr) from exc
            self._closed = reason_of(exc)
            if not reached:
                self.stop(f"the server cannot be started again: {self._closed}")
                self._current, self._over = None, True
        if self._closed and self._current is not None:
            self._record(*self._current, Answer(kind="closed", detail=self._remains.ending or self._closed))
        self._current, self._closed = None, ""
        return self._over

    # --- the first connection -------------------------------------------------------------------------------------

    async def _begin(self, connection: Connection, choose: Callable[[list[CheckedTool]], bool]) -> None:
        report, options = self.report, self.options
        report.server, report.protocol, report.seed = connection.server, connection.protocol, options.seed
        try:
            listed = await connection.tools()
        except TimeoutError:
            raise UnreachableError(
                f"it did not list its tools within {options.timeout:g} s", self._remains.stderr
            ) from None
        except ValidationError as exc:
            first = exc.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            why = f"it did not list its tools as the protocol requires: {place}, counted from 0: {first['msg']}"
            raise UnreachableError(why, self._remains.stderr) from None
        except MCPError as exc:
            raise UnreachableError(f"it did not list its tools: {reason_of(exc)}", self._remains.stderr) from None
        names = frozenset(tool.name for tool in listed)
        unknown = sorted(options.only - names)
        if unknown:
            raise UnreachableError(f"it has no tool {unknown[0]!r}")
        for tool in listed:
            if tool.name in self._tools:
                report.add(tool.name, [broken("duplicate-tool", "the second one is not called")])
            else:
                self._tools[tool.name] = tool
        self._around = Surroundings(
            names=names,
            marker=marker_of(options.seed),
            canary=self.target.canary,
            paths=Paths(
                (*self.target.command, self.target.url or "", connection.instructions, *(t.description for t in listed))
            ),
        )
        chosen = [tool for tool in self._tools.values() if not options.only or tool.name in options.only]
        changing = [tool for tool in chosen if not tool.harmless]
        calls_changing = options.everything and (not changing or choose(changing))
        self._ends = time.monotonic() + options.limit
        self._work = self._probes(chosen, calls_changing=calls_changing)

    def _probes(self, tools: list[CheckedTool], *, calls_changing: bool) -> Iterator[tuple[ToolReport, Probe]]:
        """Every call, tool by tool. Whatever the listing alone shows is reported on the way."""
        subject = ToolReport(name=UNKNOWN_TOOL, tool=None)
        self.report.tools.append(subject)
        yield subject, Probe(kind="unknown-tool", tool=f"{self._around.marker}_tool", arguments={})
        for done, tool in enumerate(tools):
            self.progress(done, len(tools), tool.name)
            subject = ToolReport(name=tool.name, tool=tool)
            self.report.tools.append(subject)
            verdicts = list(judge_listing(tool, self._around.names))
            subject.marks.add(verdicts)
            self.report.add(tool.name, verdicts)
            if not tool.harmless and not calls_changing:
                subject.skipped, subject.judged = "it may change something", True
                self.report.add(tool.name, [broken("not-called", "readOnlyHint is not set")])
                continue
            drawn = draw(tool, seed=self.options.seed)
            if not drawn.usable:
                subject.skipped, subject.judged = "no arguments can be drawn from its schema", True
                self.report.add(tool.name, [broken("unusable-schema", subject.skipped)])
                continue
            for probe in (*drawn.valid, *drawn.hostile, *drawn.bad):
                yield subject, probe
            yield subject, Probe(kind="cancelled", tool=tool.name, arguments=drawn.valid[0].arguments)
        self.progress(len(tools), len(tools), "")

    # --- every connection -----------------------------------------------------------------------------------------

    async def _call(self, connection: Connection) -> None:
        """Make the calls that are left, until the last one or the end of the connection."""
        assert self._work is not None
        for subject, probe in self._work:
            if self._lost.get(subject.name, 0) >= _MOST_LOST:
                subject.skipped, subject.judged = f"{_MOST_LOST} calls were not answered", True
                continue
            if time.monotonic() >= self._ends:
                self.stop(f"the limit of {self.options.limit:g} s is over")
                break
            subject.calls += 1
            self._current = subject, probe
            if probe.kind == "cancelled":
                answer = await connection.cancel(probe.tool, probe.arguments)
            else:
                answer = await connection.call(probe.tool, probe.arguments)
            if answer.kind == "closed":
                self._closed = answer.detail
                return
            self._record(subject, probe, answer)
            if answer.kind == "unanswered" or (answer.kind == "timeout" and not await connection.alive()):
                self._current = None
                return
        self._current, self._over = None, True

    def _record(self, subject: ToolReport, probe: Probe, answer: Answer) -> None:
        subject.judged = probe.kind in _LAST
        verdicts = judge(probe, answer, subject.tool, self._around)
        subject.marks.add(verdicts)
        self.report.add(subject.name, verdicts, probe)
        if answer.kind in {"timeout", "closed", "unanswered"}:
            self._lost[subject.name] = self._lost.get(subject.name, 0) + 1

    def stop(self, reason: str) -> None:
        """Report why the check ended early, and the tools that were not judged to the end."""
        self.report.stopped = reason
        for subject in self.report.tools:
            if not subject.judged:
                subject.skipped = subject.skipped or reason
        reached = {subject.name for subject in self.report.tools}
        for name, tool in self._tools.items():
            if name not in reached and (not self.options.only or name in self.options.only):
                self.report.tools.append(ToolReport(name=name, tool=tool, skipped=reason))
