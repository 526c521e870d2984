"""The plugin of pytest: the fixtures, contract suites under any name, and the options of reason coverage.

pytest imports this module in every run, so it imports nothing of mcpcore that a run may not need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from mcp import Client

    from mcpcore.declare.context import Context


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of reason coverage."""
    group = parser.getgroup("mcpcore", "reason coverage of mcpcore")
    group.addoption(
        "--reason-coverage",
        action="store_true",
        help="report which declared reasons no test raised, and which undeclared codes were seen",
    )
    group.addoption(
        "--reason-coverage-report",
        action="append",
        default=[],
        metavar="FORMAT[:PATH]",
        help="also write the coverage as json, html or markdown; can be repeated",
    )
    group.addoption(
        "--reason-coverage-source",
        action="append",
        default=[],
        metavar="PATH",
        help="count only handlers that are declared in this file or folder; can be repeated",
    )
    group.addoption(
        "--reason-coverage-fail-under",
        type=_percentage,
        metavar="PERCENT",
        help="fail the run if fewer of the declared reasons were raised",
    )


def _percentage(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 100:
        import argparse

        # argparse shows the text of this exception, and not that of a ValueError.
        raise argparse.ArgumentTypeError(f"must be between 0 and 100, not {text}")
    return value


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start to record before a conftest can import a server."""
    options = early_config.known_args_namespace
    if (
        options.reason_coverage
        or options.reason_coverage_report
        or options.reason_coverage_source
        or options.reason_coverage_fail_under is not None
    ):
        from mcpcore.testing.reasons.running import ReasonCoverage

        early_config.pluginmanager.register(ReasonCoverage(early_config, options), "mcpcore-reason-coverage")


def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, name: str, obj: object) -> Any:
    """Collect a contract suite, whatever its name is."""
    if isinstance(obj, type) and obj.__dict__.get("mcpcore_suite") is True:
        return pytest.Class.from_parent(collector, name=name, obj=obj)
    return None


@pytest.fixture
def tool_client() -> Callable[..., AbstractAsyncContextManager[Client]]:
    """The function of `mcpcore.testing` that connects a client to a server in memory."""
    from mcpcore.testing.client import tool_client

    return tool_client


@pytest.fixture
def make_context() -> Callable[..., Context[Any, Any]]:
    """The function of `mcpcore.testing` that makes the context of a handler."""
    from mcpcore.testing.client import make_context

    return make_context


@pytest.fixture
def failing() -> Callable[..., AbstractAsyncContextManager[None]]:
    """The function of `mcpcore.testing` that has the tools of a server fail on demand."""
    from mcpcore.testing.faults import failing

    return failing
