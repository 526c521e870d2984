"""How a worker of pytest-xdist reports its tests: a test that passed sends three messages instead of six."""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test as pytest does, and report its call, and what did not pass.

    To send that a setup or a teardown passed takes as long as many a test.
    """
    for report in runtestprotocol(item, nextitem=nextitem, log=False):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
