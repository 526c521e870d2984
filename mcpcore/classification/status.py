"""The codes of HTTP statuses, for exceptions, for responses and for the numbers in messages."""

from __future__ import annotations

from typing import Final

from mcpcore.contract.codes import Code, ErrorCode
from mcpcore.contract.retry import Retry

STATUS_CODES: Final[dict[int, ErrorCode]] = {
    400: ErrorCode.INVALID_PARAMS,
    401: ErrorCode.UNAUTHORIZED,
    402: ErrorCode.FORBIDDEN,
    403: ErrorCode.FORBIDDEN,
    404: ErrorCode.NOT_FOUND,
    408: ErrorCode.TIMEOUT,
    409: ErrorCode.CONFLICT,
    422: ErrorCode.VALIDATION_ERROR,
    423: ErrorCode.CONFLICT,
    424: ErrorCode.CONFLICT,
    425: ErrorCode.TIMEOUT,
    429: ErrorCode.RATE_LIMITED,
    504: ErrorCode.TIMEOUT,
}
"""Statuses with a specific code; other statuses have the code of their class in `STATUS_CLASSES`."""

STATUS_CLASSES: Final[dict[int, ErrorCode]] = {
    3: ErrorCode.INVALID_REQUEST,
    4: ErrorCode.INVALID_REQUEST,
    5: ErrorCode.SERVICE_UNAVAILABLE,
}
"""The code of a class of statuses, by first digit. A redirect that reaches the caller was not followed."""

STATUS_RETRY: Final[dict[int, Retry]] = {501: Retry.never(), 505: Retry.never()}
"""Statuses whose advice differs from that of their code: an unimplemented method stays unimplemented."""

RETRY_AFTER_STATUSES: Final = frozenset({403, 408, 409, 413, 423, 425, 429, 500, 502, 503, 504, 507, 509, 520, 521, 522,
                                         523, 524, 525, 526, 527, 529, 530})  # fmt: skip
"""Statuses with which servers send a Retry-After that means the same request (RFC 9110, 10.2.3; GitHub's 403)."""


def code_for_status(status: int) -> Code:
    """The code of a failed HTTP response.

    Statuses from 600 to 999, which RFC 9110 (section 15) does not define, count as server errors, as it advises.

    ```python
    assert code_for_status(409) is ErrorCode.CONFLICT
    ```

    Args:
        status: The status of the response.

    Raises:
        TypeError: If `status` is not an int.
        ValueError: If `status` is not a failure: below 300, or above 999.
    """
    if isinstance(status, bool) or not isinstance(status, int):
        raise TypeError(f"code_for_status takes an HTTP status such as 404, not {type(status).__name__}")
    code = STATUS_CODES.get(status)
    if code is not None:
        return code
    if not 300 <= status <= 999:
        raise ValueError(f"code_for_status takes the status of a failed response, 300 to 999, not {status}")
    return STATUS_CLASSES.get(status // 100, ErrorCode.SERVICE_UNAVAILABLE)


def retry_for_status(status: int) -> Retry:
    """The retry advice of a failed HTTP response without a Retry-After.

    ```python
    assert retry_for_status(503).retryable
    ```

    Args:
        status: The status of the response.

    Raises:
        TypeError: If `status` is not an int.
        ValueError: If `status` is not a failure.
    """
    return STATUS_RETRY.get(status) or code_for_status(status).retry
