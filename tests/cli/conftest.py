"""Fixtures for the command line: the command within this process and in a separate one, and servers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from signal import SIGINT
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mcpcore.cli.root import cli
from tests.serving import running

COMMAND = (sys.executable, "-m", "mcpcore")


@pytest.fixture
def call() -> Callable[..., Result]:
    """`mcpcore call`; the client runs here, the server in a separate process."""

    def called(*arguments: object, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(cli, ["call", *map(str, arguments)], input=stdin, catch_exceptions=False)

    return called


@pytest.fixture
def apart() -> Callable[..., subprocess.CompletedProcess[str]]:
    """`mcpcore` in a separate process with real streams, to its end."""

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
            **options,
        )

    return run


@pytest.fixture
def started() -> Callable[..., subprocess.Popen[str]]:
    """`mcpcore` in a separate process, while it runs."""

    def start(*arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


@pytest.fixture
def served() -> Callable[..., AbstractContextManager[tuple[str, str]]]:
    """`mcpcore run … --http`; yields the server's name and its URL, and ends it as Ctrl+C does."""

    @contextmanager
    def serve(*arguments: object) -> Iterator[tuple[str, str]]:
        with running(
            [*COMMAND, "run", *map(str, arguments)], r"Serving (.*) at (http://\S+)", stop=SIGINT, code=130
        ) as match:
            yield match[1], match[2]

    return serve
