"""A reader on a phone or in the dark stumbles over nothing on any page of the built site. `make site` builds it."""

from __future__ import annotations

import re

import pytest

from tests.browser.browser import drive
from tests.docs.test_search import REDIRECTS, ROOT, SITE, address, file_of

pytestmark = pytest.mark.no_server

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
        "no text",
    ),
    "noisy": ("<title>A</title><h1>A</h1><script>nothing()</script>", "nothing is not defined"),
}
"""Pages with one fault each, and how it is called."""
PICTURE = (
    '<svg viewBox="0 0 800 100" xmlns="http://www.w3.org/2000/svg"><text x="10" y="20" style="font-size: 16px">small</text>'
    '<text x="700" y="60" style="font-size: 40px">beyond</text><text x="10" y="90" style="font-size: 40px">lost…</text></svg>'
)


@pytest.mark.site
def test_no_page_has_a_fault():
    """Nothing is cut, broken or scrolls sideways, every page has a title, and text can be read in light and dark."""
    moved = {file_of(page) for page in REDIRECTS}
    pages = sorted({path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")} - moved)
    assert len(pages) > 80
    pictures = [str(path) for path in sorted((ROOT / "docs" / "assets").glob("*.svg")) if path.name != "logo.svg"]
    wide = [address(f"{kind}.md") for kind in KINDS]
    job = {"pages": pages, "wide": wide, "pictures": pictures, "unknown": ["gone.html", "how-to/old/none.html"]}
    assert [] == drive("pages.mjs", SITE, job=job)


@pytest.mark.site
def test_an_address_that_was_given_up_leads_to_the_new_one():
    """Without a script and without a server."""
    for page, target in REDIRECTS.items():
        link = re.search(r'content="0; url=([^"#]+)', (SITE / file_of(page)).read_text(encoding="utf-8"))[1]
        assert (SITE / page).parent.joinpath(link).resolve() == SITE / file_of(target)


@pytest.mark.slow
def test_each_fault_is_found(tmp_path):
    """A check that finds nothing anywhere proves nothing."""
    for name, (body, _) in FAULTS.items():
        (tmp_path / f"{name}.html").write_text(f"<!doctype html>{body}", encoding="utf-8")
    dim = '<title>A</title><h1>A</h1><div class="md-content" style="color: #ddd; background: #fff">Too pale</div>'
    (tmp_path / "dim.html").write_text(dim, encoding="utf-8")
    (tmp_path / "404.html").write_text(dim, encoding="utf-8")
    (tmp_path / "picture.svg").write_text(PICTURE, encoding="utf-8")
    pages = [f"{name}.html" for name in FAULTS]
    job = {"pages": pages, "wide": ["dim.html"], "pictures": [str(tmp_path / "picture.svg")], "unknown": []}
    found = drive("pages.mjs", tmp_path, job=job)
    for name, (_, fault) in FAULTS.items():
        mine = [problem for problem in found if problem.startswith(f"{name}.html, 390 pixels, light: ")]
        assert any(fault in problem for problem in mine), (name, mine)
    for fault in ('writes in 7.2 pixels: "small"', 'cuts the label "beyond"', 'cuts the label "lost…"'):
        assert f"picture.svg: {fault}" in found, found
    assert {"light", "dark"} == {p.split(": ")[0].split(", ")[2] for p in found if "insufficient color contrast" in p}
