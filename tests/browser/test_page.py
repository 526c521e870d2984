"""The pages of the catalog and of the trail in Chromium: as a reader uses them, and as axe judges them."""

from __future__ import annotations

import pytest

from mcpcore import ErrorCode
from mcpcore.audit.stats import collect, render as render_trail
from mcpcore.catalog import Catalog, render
from tests.browser.browser import drive
from tests.catalog.making import catalog, failure, item
from tests.catalog.test_catalog import FULL, WILD

pytestmark = pytest.mark.no_server


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What Chromium saw of a page, and of one that is full of hostile texts."""
    folder = tmp_path_factory.mktemp("pages")
    orders = catalog(
        item(*(failure(f"reason_{number}") for number in range(12)), name="find", contract="declared"),
        item(failure("shipped", name="CONFLICT", code=-32002), failure("gone"), name="ship"),
        item(name="stock", contract="none", description="How many are in stock."),
        name="orders",
    )
    for name, made in {"page": Catalog.of([*orders.servers, *FULL.servers]), "hostile": WILD}.items():
        (folder / f"{name}.html").write_text(render(made, "html"), encoding="utf-8")
    return drive("drive.mjs", folder / "page.html", folder / "hostile.html")


@pytest.mark.slow
def test_axe_finds_no_violation_in_light_and_dark_wide_and_narrow(seen):
    """So it is after a click on the button that turns light into dark."""
    assert 6 == len(seen["axe"])
    assert {} == {name: violations for name, violations in seen["axe"].items() if violations}
    assert [] == seen["dark"]
    assert seen["theme"] is True
    assert seen["overflow"] is False


@pytest.mark.slow
def test_hostile_texts_run_nothing_and_load_nothing(seen):
    """No script of theirs runs, no request leaves the page, and the console stays empty."""
    assert seen["taken"] is False
    assert [] == seen["noise"]


@pytest.mark.slow
def test_search_and_filters(seen):
    """The words are searched for in reasons and tools; code and reason narrow it down, and Escape ends the search."""
    assert "17 of 17 failure modes" == seen["all"]["count"] == seen["escape"]
    assert ["orders/tool/stock"] == seen["search"]["items"]
    assert "0 of 17 failure modes" == seen["search"]["count"]
    assert "orders/tool/ship/gone" in seen["code"]["failures"]
    assert "orders/tool/ship/shipped" not in seen["code"]["failures"]
    assert 3 == seen["code"]["links"]
    assert seen["nothing"] is True


@pytest.mark.slow
def test_each_reason_has_a_link_that_leads_to_it(seen):
    """It does so on a fresh page, and on one whose filters hide the reason."""
    assert "orders/tool/ship/shipped" == seen["all"]["failures"][-1] == seen["linked"] == seen["deep"]


@pytest.mark.slow
def test_keyboard_and_screen_reader(seen):
    """A key leads to the search, the first stop skips to the contracts, and everything can be reached and has a role."""
    assert ("search", "skip", "contracts") == (seen["slash"], seen["first"], seen["skipped"])
    assert seen["tabbable"] is True
    assert ["banner", "navigation", "main", "search", "article", "heading"] == seen["roles"]


@pytest.mark.slow
def test_the_page_of_the_trail_breaks_no_name(tmp_path):
    """On a phone and on a tablet, names of tools, reasons and codes stay in one piece."""
    code = ErrorCode.SERVICE_UNAVAILABLE
    records = [
        {"tool": tool, "reason": reason, "name": code.name, "code": int(code), "timestamp": "2026-11-29T10:00:00Z"}
        for tool in ("place_order", "list_outstanding_orders")
        for reason in ("payment_unconfirmed", "payments_down", None)
    ]
    page = render_trail(collect(records), title="Failures in audit.jsonl")
    (tmp_path / "trail.html").write_text(page, encoding="utf-8")
    job = {"pages": ["trail.html"], "tablet": ["trail.html"], "wide": [], "pictures": [], "unknown": []}
    assert [] == drive("pages.mjs", tmp_path, job=job)
