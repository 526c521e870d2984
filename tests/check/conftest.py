"""One check of the hostile server for all tests."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner, Result

from mcpcore.check.model import Report
from mcpcore.check.running import Check, Options, Target
from mcpcore.cli.root import cli

SERVERS = Path(__file__).parent / "servers"
HOSTILE = (sys.executable, "-S", str(SERVERS / "hostile.py"))


def _checked(*command: str, url: str | None = None, era: str = "auto", **options: object) -> Report:
    """The report of a check within this process."""
    target = Target(command=command, url=url, era=era, canary="" if url else "mcpcanary1234")
    report = Report(target=" ".join(command) or str(url))
    progress = options.pop("progress", None)
    more = () if progress is None else (progress,)
    return anyio.run(Check(target, Options(**options), report, *more).run)


@pytest.fixture(scope="session")
def hostile() -> Report:
    """The report about the server that fails in every bad way."""
    return _checked(*HOSTILE, timeout=0.7)


@pytest.fixture
def checked() -> Callable[..., Report]:
    """The report of a check in this process, of a server in a separate one."""
    return _checked


@pytest.fixture
def command() -> Callable[..., Result]:
    """`mcpcore check` in this process; the server runs in a separate one."""

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(cli, ["check", *map(str, arguments)], catch_exceptions=False)

    return run
