"""The family "Handler body": how a handler raises, catches and answers."""

from mcpcore_lint.rules.handler.answering import NoErrorAsData
from mcpcore_lint.rules.handler.builtin_errors import PreferMcpErrorInHandler
from mcpcore_lint.rules.handler.catching import NoBaseExceptionCatch
from mcpcore_lint.rules.handler.causes import PreserveCauseOnRethrow
from mcpcore_lint.rules.handler.emptiness import NoFakeEmpty
from mcpcore_lint.rules.handler.factories import PreferErrorFactory
from mcpcore_lint.rules.handler.protocol_errors import NoProtocolErrorInTool
from mcpcore_lint.rules.handler.retry_unsafe import RetryUnsafe
from mcpcore_lint.rules.handler.stdout import NoStdoutInTool
from mcpcore_lint.rules.handler.swallowing import NoSwallowedError
from mcpcore_lint.rules.handler.telling import DetailsNotJson, NoStringifyUpstreamError

__all__ = [
    "DetailsNotJson",
    "NoBaseExceptionCatch",
    "NoErrorAsData",
    "NoFakeEmpty",
    "NoProtocolErrorInTool",
    "NoStdoutInTool",
    "NoStringifyUpstreamError",
    "NoSwallowedError",
    "PreferErrorFactory",
    "PreferMcpErrorInHandler",
    "PreserveCauseOnRethrow",
    "RetryUnsafe",
]
