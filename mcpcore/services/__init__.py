"""What service code uses: `guard`, which gives exceptions a code and a record, and errors made from HTTP responses."""

from __future__ import annotations

from mcpcore.classification.status import code_for_status
from mcpcore.services._shared import declared, decorated
from mcpcore.services.guarding import guard
from mcpcore.services.responses import from_http_response, from_http_response_async
from mcpcore.values.untrusted import is_async

__all__ = [
    "code_for_status", "declared", "decorated", "from_http_response", "from_http_response_async", "guard", "is_async",
]  # fmt: skip
