"""The log of FastMCP servers."""

from __future__ import annotations

import pytest


@pytest.fixture
def caplog(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """The log, with what is logged of declared failures, which is information."""
    caplog.set_level("INFO")
    return caplog
