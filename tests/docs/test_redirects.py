"""Addresses that were given up lead to pages that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
REDIRECTS = tomllib.loads((DOCS / "redirects.toml").read_text(encoding="utf-8"))
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)

pytestmark = pytest.mark.no_server


def anchors(page):
    """The anchors of the headings of a page, and those that it sets itself."""
    text = (DOCS / page).read_text(encoding="utf-8")
    headings = {re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", title.lower())) for title in HEADING.findall(text)}
    return {heading.strip().replace(" ", "-") for heading in headings} | {*re.findall(r'<a id="([^"]+)"', text)}


def test_a_page_that_moved_leads_to_a_page_and_a_heading():
    """No page is at the old address any more, so that the redirect does not replace it."""
    for page, address in REDIRECTS.items():
        target, _, heading = address.partition("#")
        assert not (DOCS / page).exists(), page
        assert (DOCS / target).is_file(), page
        assert not heading or heading in anchors(target), page


def test_no_redirect_leads_to_another():
    """A reader gets there in one step."""
    assert {} == {page: target for page, target in REDIRECTS.items() if target.partition("#")[0] in REDIRECTS}


def test_every_page_of_the_search_settings_exists():
    """Also under the name that it had before it moved."""
    settings = tomllib.loads((DOCS / "search.toml").read_text(encoding="utf-8"))
    project = {"changelog.md", "releasing.md"}
    for page in [*settings["words"], *settings["weights"]]:
        assert page in project or (DOCS / REDIRECTS.get(page, page).partition("#")[0]).exists(), page
