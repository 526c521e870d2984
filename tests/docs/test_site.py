"""The built site in a real browser: its search answers, and no page has a fault. `make site` builds it, `make sitecheck` looks."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.browser.browser import drive

ROOT = Path(__file__).parents[2]
SITE, DOCS = ROOT / "site", ROOT / "docs"
QUESTIONS, MOVED = (
    tomllib.loads(path.read_text(encoding="utf-8"))
    for path in (Path(__file__).parent / "questions.toml", DOCS / "redirects.toml")
)
OPENED = ["failuremode", "how do I retry in langchain?"]
"""Also typed on a page that is opened as a file, whose search runs in a frame."""
KINDS = (
    "index",
    "faq",
    "404",
    "contributing",
    "tutorial/index",
    "how-to/index",
    "how-to/testing",
    "reference/codes",
    "reference/api/dialects",
    "rules/no-error-as-data",
    "explanation/cost",
)
"""One page of each kind, which is also looked at on a wide screen and in dark colours."""
FAULTS = {
    "untitled": ("<h1>A</h1>", "has no title"),
    "headless": ("<title>A</title><p>B</p>", "has 0 headings of the first level"),
    "wide": ('<title>A</title><h1>A</h1><div style="width: 900px">B</div>', "scrolls sideways, to 9"),
    "cut": (
        f'<title>A</title><h1>A</h1><div style="overflow: hidden"><pre style="width: 900px">{"x" * 90}</pre></div>',
        "<pre> reaches ",
    ),
    "code": (f'<title>A</title><h1>A</h1><pre style="overflow: clip">{"x" * 90}</pre>', "code leaves its block"),
    "broken": (
        '<title>A</title><h1>A</h1><table style="width: 60px"><tr><td style="word-break: break-all">misunderstanding',
        'a table breaks the word "misunderstanding"',
    ),
    "picture": ('<title>A</title><h1>A</h1><img src="none.png" alt="B">', "a picture is missing"),
    "silent": (
        '<title>A</title><h1>A</h1><img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">',
        "a picture has no text",
    ),
    "noisy": ("<title>A</title><h1>A</h1><script>nothing()</script>", "nothing is not defined"),
    "404": ('<title>A</title><h1>A</h1><div class="md-content" style="color: #ddd; background: #fff">Pale</div>', ""),
}
"""Pages with one fault each, and how it is called."""
PICTURE = (
    '<svg viewBox="0 0 800 100" xmlns="http://www.w3.org/2000/svg"><text x="10" y="20" style="font-size: 16px">small</text>'
    '<text x="700" y="60" style="font-size: 40px">beyond</text><text x="10" y="90" style="font-size: 40px">lost…</text></svg>'
)

pytestmark = pytest.mark.no_server


def file_of(page):
    """The file of the site that is made from a page."""
    return re.sub(r"README$", "index", page.partition("#")[0].removesuffix(".md")) + ".html"


def address(page):
    """The file of the site that answers for a page, also after it moved."""
    return file_of(MOVED.get(page, page))


@pytest.mark.site
def test_the_search_answers_questions():
    """The right page is among the first three for all but two of the 35, and the search is the same on a page opened as a file."""
    questions = QUESTIONS["questions"]
    answers = drive("search.mjs", SITE, job={"queries": list(questions), "opened": OPENED})
    first = {question: answers["served"][question][:3] for question in questions}
    wrong = {
        question: first[question]
        for question, pages in questions.items()
        if not {*map(address, pages)} & {*first[question]}
    }
    assert 35 == len(questions)
    assert len(wrong) <= 2, wrong
    assert answers["opened"] == {query: answers["served"][query] for query in OPENED}


@pytest.mark.site
def test_no_page_has_a_fault():
    """Nothing is cut, broken or scrolls sideways, every page has a title, and text can be read in light and dark."""
    pages = sorted({path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")} - {*map(file_of, MOVED)})
    pictures = [str(path) for path in sorted((DOCS / "assets").glob("*.svg")) if path.name != "logo.svg"]
    wide = [address(f"{kind}.md") for kind in KINDS]
    job = {"pages": pages, "wide": wide, "pictures": pictures, "unknown": ["gone.html", "how-to/old/none.html"]}
    assert len(pages) > 80
    assert [] == drive("pages.mjs", SITE, job=job)


@pytest.mark.slow
def test_each_fault_is_found(tmp_path):
    """A check that finds nothing anywhere proves nothing."""
    for name, (body, _) in FAULTS.items():
        (tmp_path / f"{name}.html").write_text(f"<!doctype html>{body}", encoding="utf-8")
    (tmp_path / "picture.svg").write_text(PICTURE, encoding="utf-8")
    pages = {"pages": [f"{name}.html" for name in FAULTS], "wide": ["404.html"]}
    faults = drive("pages.mjs", tmp_path, job={**pages, "pictures": [str(tmp_path / "picture.svg")], "unknown": []})
    for name, (_, fault) in FAULTS.items():
        start = f"{name}.html, 390 pixels, light: "
        assert any(problem.startswith(start) and fault in problem for problem in faults), (name, faults)
    assert {'picture.svg: writes in 7.2 pixels: "small"', 'picture.svg: cuts the label "beyond"'} <= {*faults}
    assert 'picture.svg: cuts the label "lost…"' in faults


@pytest.mark.site
def test_an_address_that_was_given_up_leads_to_a_page_and_a_heading():
    """Without a script and without a server. No page is at the old address any more."""
    for page, target in MOVED.items():
        link = re.search(r'content="0; url=([^"#]+)', (SITE / file_of(page)).read_text(encoding="utf-8"))[1]
        place, heading = (SITE / page).parent.joinpath(link).resolve(), target.partition("#")[2]
        assert (False, SITE / file_of(target)) == ((DOCS / page).exists(), place)
        assert not heading or f'id="{heading}"' in place.read_text(encoding="utf-8"), target


@pytest.mark.site
def test_the_site_has_each_schema_at_the_place_that_it_names():
    """The address of a schema ends with its path on the site."""
    for path in (DOCS / "reference").glob("*.schema.json"):
        place = path.relative_to(DOCS).as_posix()
        assert path.read_bytes() == (SITE / place).read_bytes()
        assert f'/{place}",' in path.read_text(encoding="utf-8").partition('"$id"')[2].partition("\n")[0]
