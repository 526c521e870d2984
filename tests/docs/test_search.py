"""The search of the built site answers the questions of users, in a real browser. `make site` builds it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.browser.browser import drive

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
QUESTIONS = tomllib.loads((Path(__file__).parent / "questions.toml").read_text(encoding="utf-8"))["questions"]
REDIRECTS = tomllib.loads((ROOT / "docs" / "redirects.toml").read_text(encoding="utf-8"))
OPENED = ["failuremode", "how do I retry in langchain?"]
"""Also typed on a page that is opened as a file, whose search runs in a frame."""

pytestmark = [pytest.mark.no_server, pytest.mark.site]


@pytest.fixture(scope="module")
def found():
    return drive("search.mjs", SITE, job={"queries": list(QUESTIONS), "opened": OPENED})


def file_of(page):
    """The file of the site that is made from a page."""
    return re.sub(r"README$", "index", page.partition("#")[0].removesuffix(".md")) + ".html"


def address(page):
    """The file of the site that answers for a page, also after it moved."""
    return file_of(REDIRECTS.get(page, page))


def test_there_are_enough_questions():
    assert 25 == len(QUESTIONS)


def test_the_right_page_is_among_the_first_three(found):
    """For at least 23 of the questions; the others are named if there are more of them."""
    wrong = {
        question: found["served"][question][:3]
        for question, pages in QUESTIONS.items()
        if not {address(page) for page in pages} & set(found["served"][question][:3])
    }
    assert len(wrong) <= len(QUESTIONS) - 23, wrong


def test_a_page_that_is_opened_as_a_file_finds_the_same(found):
    """Without a server the search's worker runs in a frame."""
    assert found["opened"] == {query: found["served"][query] for query in OPENED}
