"""Whatever changes within, clients get the same answers: those in `answers.jsonl`."""

from __future__ import annotations

import logging

import pytest

from mcpcore.wire.dialects import DIALECTS
from tests.doors import DOORS
from tests.recorded.answers import answers, recorded

RECORDED = recorded()


@pytest.mark.anyio
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("server", DOORS)
async def test_the_answers_are_those_that_were_recorded(server: str, dialect: str) -> None:
    """`python -m tests.recorded.answers` records them again; the diff of the file then shows how a change looks to clients."""
    logging.disable(logging.CRITICAL)
    try:
        said = await answers(server, dialect)
    finally:
        logging.disable(logging.NOTSET)
    assert {call: answer for call, answer in RECORDED.items() if call.startswith(f"{server} {dialect} ")} == said
