"""The old names of public attributes still work in this version, with a warning."""

from __future__ import annotations

from typing import Any

import pytest

from mcpcore import Context, ErrorCode, FailureMode, tool
from mcpcore.contract.failure_modes import Contract

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look for another one.")


@tool(errors=[GONE])
def look(ctx: Context[Any]) -> int:
    """Look."""
    raise ctx.fail("gone")


@pytest.mark.no_server
def test_the_old_names_of_a_context_warn() -> None:
    """`record_failure`, `render_item` and `show_value` were `judged`, `part` and `shown`."""
    ctx: Context[Any] = Context(Contract([GONE]))
    with pytest.deprecated_call(match="record_failure"):
        envelope = ctx.judged(ctx.fail("gone"))  # pyright: ignore[reportDeprecated]
    with pytest.deprecated_call(match="render_item"):
        assert envelope.to_json() == ctx.part(envelope)  # pyright: ignore[reportDeprecated]
    with pytest.deprecated_call(match="show_value"):
        assert "x" == ctx.shown("x")  # pyright: ignore[reportDeprecated]


@pytest.mark.no_server
def test_the_old_names_of_a_tool_warn() -> None:
    """`with_options` and `bound_args` were `changed` and `leading`."""
    with pytest.deprecated_call(match="with_options"):
        assert "see" == look.changed(name="see").name  # pyright: ignore[reportDeprecated]
    with pytest.deprecated_call(match="bound_args"):
        (ctx,) = look.leading(None)  # pyright: ignore[reportDeprecated]
    assert isinstance(ctx, Context)
