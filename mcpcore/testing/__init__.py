"""Tools for tests of servers. Each name loads its part on first use, so that the plugin of pytest costs little.

- `tool_client(server)` calls a server's tools in memory, with strict contracts.
- `make_context(tool)` makes the context that a handler takes.
- `raises_reason(reason)` and `assert_fails(result, reason)` check a failure.
- `contract_suite(server)` generates the tests that every contract must pass.
- `failing(server, faults)` has tools fail on demand, with failures that they declare.
- `fuzz_tool(tool)` calls a tool with arguments that are drawn from its schema.
"""

from __future__ import annotations

from mcpcore import loaded_on_use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpcore.testing.asserting import (
        RaisedFailure as RaisedFailure,
        assert_fails as assert_fails,
        raises_reason as raises_reason,
    )
    from mcpcore.testing.client import make_context as make_context, tool_client as tool_client
    from mcpcore.testing.faults import failing as failing
    from mcpcore.testing.fuzzing import fuzz_tool as fuzz_tool
    from mcpcore.testing.suite import contract_suite as contract_suite

_HOME_OF = {
    "RaisedFailure": "asserting",
    "assert_fails": "asserting",
    "contract_suite": "suite",
    "failing": "faults",
    "fuzz_tool": "fuzzing",
    "make_context": "client",
    "raises_reason": "asserting",
    "tool_client": "client",
}

if not TYPE_CHECKING:  # type checkers read the imports above
    __all__ = list(_HOME_OF)
    __getattr__, __dir__ = loaded_on_use(globals(), _HOME_OF)
