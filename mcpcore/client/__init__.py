"""Calls tools of any MCP server: a failure is an exception with its envelope, and a policy says what to do about it.

```python
from mcpcore.client import CallPolicy, ToolCallFailed, call

try:
    result = await call(session, "fetch_articles", {"pmids": ["1"]}, policy=CallPolicy())
except ToolCallFailed as failed:
    print(failed.reason, failed.envelope.hint)
```
"""

from __future__ import annotations

from mcpcore.client.calling import call
from mcpcore.client.failures import (
    ListedTool,
    Step,
    StepKind,
    ToolCallFailed,
    ToolContract,
    failure_of,
    forget_tools,
    list_tools,
    listed_tool,
)
from mcpcore.client.policy import CallPolicy, Decision, DecisionKind, Progress, ReadOnly, RetryBudget, decide
from mcpcore.client.relay import Relayed, relay

__all__ = [
    "CallPolicy",
    "Decision",
    "DecisionKind",
    "ListedTool",
    "Progress",
    "ReadOnly",
    "Relayed",
    "RetryBudget",
    "Step",
    "StepKind",
    "ToolCallFailed",
    "ToolContract",
    "call",
    "decide",
    "failure_of",
    "forget_tools",
    "list_tools",
    "listed_tool",
    "relay",
]
