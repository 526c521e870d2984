"""The labelled set of real exceptions, as far as the libraries of the test environment raise it."""

from __future__ import annotations

import gc
import logging
import warnings

import pytest

from bench.classify.__main__ import accuracy, all_cases, captured, describe, microseconds
from bench.classify.reference import classify_by_reference
from bench.classify.servers import Peers
from mcpcore.classify.engine import classify

SERVICES = {"openai", "anthropic", "botocore", "google.api_core", "google.auth", "grpc", "azure.core",
    "elasticsearch", "psycopg",
            "asyncpg", "pymysql", "pymongo", "bson"}  # fmt: skip
"""Libraries that only the bench's environment has for certain."""


@pytest.mark.slow
def test_real_exceptions_get_the_code_that_an_engineer_gives_them() -> None:
    """At least 97 % are right, no bug is blamed on the caller, and the reference alone is far behind."""
    cases = [case for case in all_cases() if case.library not in SERVICES]
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Peers() as peers:
                found = captured(cases, peers)
            right, blamed = accuracy(found, classify)
            by_reference, _ = accuracy(found, classify_by_reference)
            wrong = "\n".join(describe(case, exc) for case, exc in found if classify(exc) is not case.label)
            count, bugs = len(found), sum(case.bug for case, _ in found)
            # What failed on purpose leaves sockets and files open, which must not warn in another test.
            del found
            gc.collect()
    finally:
        logging.disable(logging.NOTSET)
    assert count >= 300
    assert bugs >= 50
    assert right >= 0.97 * count, wrong
    assert blamed == 0, wrong
    assert by_reference < 0.6 * count


def test_a_known_type_costs_next_to_nothing() -> None:
    """The class alone decides, so its answer is looked up: the limits are wide, for machines that are busy."""
    assert microseconds(TimeoutError("slow")) < 5
    assert microseconds(RuntimeError("The user 'ada' was not found in the directory of project apollo")) < 100
