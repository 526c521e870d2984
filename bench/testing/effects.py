"""Whether a probe finds the writes that break "nothing was changed": `python -m bench.testing.effects`.

In a copy of the examples' servers, each `raise` is preceded by a write, which is off at first. Short scenarios make the
servers fail with their reasons. A `raise` claims `none` if it was passed in a call whose failure says
that nothing was changed. For each of these, the write is turned on, and the scenario runs again under
`tool_client(state=probe)`, which must report it.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import errno
import importlib
import os
import shutil
import sqlite3
import sys
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from unittest.mock import patch

import anyio
import httpx2

from mcpcore import Envelope
from mcpcore.testing import tool_client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "bench" / "results" / "effects.md"
SERVERS: Final = ("orders", "library", "workspace", "shipping", "agents")
OFF_THE_WAY: Final = ("agent.py", "plain_server.py", "payments.py", "*_agent.py", "*_program.py", "test_*.py")
"""Files of the examples that no call of their servers enters."""

TARGET: Final = 0.96


class World(NamedTuple):
    """A server, the state behind it, and a write to that state."""

    server: Any
    probe: Callable[[], Any]
    write: Callable[[], object]


class Scenario(NamedTuple):
    """Calls, the last of which fails with a reason; None if it crashes.

    `upstream` is the answer of the service behind the server: a status, or an exception.
    """

    server: str
    reason: str | None
    calls: list[tuple[str, dict[str, Any]]]
    upstream: Any = 200


class Writes:
    """The inserted writes: which were passed, and the only one that is on."""

    def __init__(self) -> None:
        """Begin with all of them off."""
        self.passed: set[str] = set()
        self.on: str | None = None
        self.write: Callable[[], object] = list

    def __call__(self, place: str) -> None:
        """Note that a call passes `place`, and write if the write there is on."""
        self.passed.add(place)
        if place == self.on:
            self.write()


class _Insert(ast.NodeTransformer):
    def __init__(self, path: str) -> None:
        self.path, self.places = path, list[str]()

    def visit_Raise(self, node: ast.Raise) -> list[ast.stmt]:
        place = f"{self.path}:{node.lineno}"
        self.places.append(place)
        return [*ast.parse(f"__inserted_write__({place!r})").body, node]


def copy_with_writes(folder: Path) -> list[str]:
    """Copy the examples into `folder` with a write before each `raise`, and import that copy; the places."""
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    places = []
    for name in SERVERS:
        for path in sorted((folder / "examples" / name).glob("*.py")):
            if any(map(path.match, OFF_THE_WAY)):
                continue
            insert = _Insert(f"{name}/{path.name}")
            tree = insert.visit(ast.parse(path.read_text(encoding="utf-8")))
            path.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
            places += insert.places
    sys.path.insert(0, str(folder))
    for module in [name for name in sys.modules if name.partition(".")[0] == "examples"]:
        del sys.modules[module]
    return places


def _answering(upstream: Any) -> httpx2.MockTransport:
    def answer(request: httpx2.Request) -> httpx2.Response:
        if isinstance(upstream, type):
            raise upstream("no answer", request=request)
        return httpx2.Response(upstream, json={"id": "ch_1", "isbn": "9" * 13, "title": "Emma"})

    return httpx2.MockTransport(answer)


@contextmanager
def _orders(folder: Path, upstream: Any) -> Iterator[World]:
    desk_of = importlib.import_module("examples.orders.desk").Desk
    with desk_of(folder / "orders.db", "http://payments.example") as desk:
        desk.store.reserve("Ann", "lamp", 1, key="known", if_short="fail")
        desk.payments._client = httpx2.Client(base_url="http://payments.example", transport=_answering(upstream))  # noqa: SLF001
        server = importlib.import_module("examples.orders.server").make_server(desk, log_level="CRITICAL")
        yield _with_database(server, desk.store._database, ("items", "orders"), "update items set stock = stock + 1")  # noqa: SLF001


@contextmanager
def _library(folder: Path, upstream: Any) -> Iterator[World]:
    module = importlib.import_module("examples.library.server")
    path = str(folder / "library.sqlite")
    with sqlite3.connect(path, check_same_thread=False, isolation_level=None) as database:
        importlib.import_module("examples.library.desk").Desk(database).join("Ann")
        client = SimpleNamespace(
            AsyncClient=lambda **options: httpx2.AsyncClient(**options, transport=_answering(upstream))
        )
        with patch.dict(os.environ, LIBRARY_DATABASE=path), patch.object(module, "httpx2", client):
            yield _with_database(module.server, database, ("books", "loans"), "insert into loans values (9, 1, 1, 4)")


def _with_database(server: Any, database: sqlite3.Connection, tables: tuple[str, ...], write: str) -> World:
    """Writes go to the database, or to an outbox while a transaction is open, which would undo them."""
    outbox: list[str] = []

    def probe() -> Any:
        return [*outbox, *(database.execute(f"select * from {table}").fetchall() for table in tables)]

    return World(server, probe, lambda: outbox.append(write) if database.in_transaction else database.execute(write))


@contextmanager
def _workspace(folder: Path, upstream: Any) -> Iterator[World]:
    work = folder / "work"
    (work / "folder" / "inner").mkdir(parents=True)
    (work / "a.txt").write_text("one\ntwo\n")
    (work / "nul.bin").write_bytes(b"a\0b")
    (work / "latin.txt").write_bytes(b"\xe9")
    (work / "large.txt").write_bytes(b"x" * (1 << 21))
    (work / "round").symlink_to("round")
    (work / "up").symlink_to("../..")
    (work / "away").symlink_to("/etc")
    os.mkfifo(work / "pipe")
    module = importlib.import_module("examples.workspace.folder")
    real: dict[str, Callable[..., Any]] = {"open": os.open, "readlink": os.readlink, "stat": os.stat}

    def raced(name: str) -> Callable[..., Any]:
        def run(path: Any, *args: Any, **options: Any) -> Any:
            if upstream[:2] == (name, path):
                raise OSError(upstream[2], "another process was faster")
            return real[name](path, *args, **options)

        return run

    system = SimpleNamespace(**vars(os))
    if isinstance(upstream, tuple):
        system.open, system.readlink, system.stat = raced("open"), raced("readlink"), raced("stat")
    server = importlib.import_module("examples.workspace.server").make_server(str(work))
    with patch.object(module, "os", system):
        yield World(server, lambda: sorted(work.rglob("*")), (work / "written").touch)


@contextmanager
def _with_outbox(module: str, *_: Any) -> Iterator[World]:
    outbox: list[str] = []
    server = importlib.import_module(module).make_server()
    yield World(server, lambda: outbox, lambda: outbox.append("sent"))


WORLDS: Final[dict[str, Callable[[Path, Any], AbstractContextManager[World]]]] = {
    "orders": _orders,
    "library": _library,
    "workspace": _workspace,
    "shipping": partial(_with_outbox, "examples.shipping.server"),
    "agents": partial(_with_outbox, "examples.agents.server"),
}

_LAMP: Final = {"customer": "Ann", "item": "lamp"}
_KEY: Final = {**_LAMP, "idempotency_key": "known"}
_LINES: Final = {"customer": "Ann", "lines": [{"item": "lamp"}]}
_BOOK: Final = {"show": "Macbeth", "seats": 2}
SCENARIOS: Final = (
    Scenario("orders", "no_item", [("stock", {"item": "sofa"})]),
    Scenario("orders", "no_item", [("place_order", {**_LAMP, "item": "sofa"})]),
    Scenario("orders", "no_item", [("place_orders", {**_LINES, "lines": [{"item": "sofa"}]})]),
    Scenario("orders", "out_of_stock", [("place_order", {**_LAMP, "quantity": 900})]),
    Scenario("orders", "card_declined", [("place_order", _LAMP)], 402),
    Scenario("orders", "card_declined", [("place_orders", _LINES)], 402),
    Scenario("orders", "key_reused", [("place_order", {**_KEY, "item": "desk"})]),
    Scenario("orders", "payments_busy", [("place_order", _LAMP)], 429),
    Scenario("orders", "payments_busy", [("place_orders", _LINES)], 429),
    Scenario("orders", "payments_busy", [("refund", {"order_id": 1})], 429),
    Scenario("orders", "payments_down", [("place_order", _LAMP)], 503),
    Scenario("orders", "payments_down", [("place_order", _LAMP)], httpx2.ConnectError),
    Scenario("orders", "payments_down", [("place_order", _LAMP)] * 3, 503),
    Scenario("orders", "payment_unconfirmed", [("place_order", _LAMP)], httpx2.ReadTimeout),
    Scenario("orders", "payment_unconfirmed", [("place_order", _KEY)], 503),
    Scenario("orders", "no_order", [("refund", {"order_id": 9})]),
    Scenario("orders", "not_paid", [("refund", {"order_id": 1})], 404),
    Scenario("orders", None, [("find_orders", {"customer": "Ann"})], 401),
    Scenario("library", "no_book", [("get_book", {"isbn": "9" * 13})]),
    Scenario("library", "catalogue_busy", [("search_books", {"words": "Emma"})], 429),
    Scenario("library", "catalogue_busy", [("add_book", {"isbn": "9" * 13})], 503),
    Scenario("library", "no_book", [("lend_book", {"isbn": "9" * 13, "member": "Ann"})]),
    Scenario(
        "library", "no_member", [("add_book", {"isbn": "9" * 13}), ("lend_book", {"isbn": "9" * 13, "member": "Bob"})]
    ),
    Scenario(
        "library",
        "all_lent",
        [("add_book", {"isbn": "9" * 13}), *[("lend_book", {"isbn": "9" * 13, "member": "Ann"})] * 2],
    ),
    Scenario(
        "library",
        "renewed_enough",
        [
            ("add_book", {"isbn": "9" * 13}),
            ("lend_book", {"isbn": "9" * 13, "member": "Ann"}),
            *[("renew_loans", {"loans": [1]})] * 3,
        ],
    ),
    Scenario("library", "no_loan", [("return_book", {"loan": 1})]),
    *(
        Scenario("workspace", reason, [("read_file", {"path": path})], race)
        for reason, path, race in (
            ("invalid_path", "", None),
            ("invalid_path", "a\0b", None),
            ("invalid_path", "n" * 300, None),
            ("invalid_path", "\udc80", None),
            ("invalid_path", "round", None),
            ("outside_workspace", "../x", None),
            ("outside_workspace", "/etc/passwd", None),
            ("outside_workspace", "up/x", None),
            ("outside_workspace", "away/passwd", None),
            ("outside_workspace", "up", ("readlink", "up", errno.EINVAL)),
            ("outside_workspace", "a.txt", ("open", "a.txt", errno.ELOOP)),
            ("not_found", "a.txt", ("open", "a.txt", errno.ENOENT)),
            (None, "a.txt", ("open", "a.txt", errno.EIO)),
            ("invalid_path", "a.txt", ("stat", "a.txt", errno.ENAMETOOLONG)),
            (None, "a.txt", ("stat", "a.txt", errno.EIO)),
            ("special_file", "a.txt", ("open", "a.txt", errno.ENXIO)),
            ("not_found", "folder/inner/x", ("open", "inner", errno.ENOENT)),
            ("not_found", "none", None),
            ("not_found", "none/x", None),
            ("not_a_folder", "a.txt/x", None),
            ("is_a_folder", "folder", None),
            ("special_file", "pipe", None),
            ("too_large", "large.txt", None),
            ("not_text", "nul.bin", None),
            ("not_text", "latin.txt", None),
        )
    ),
    Scenario("workspace", "not_found", [("list_files", {"path": "none"})], None),
    Scenario("workspace", "not_a_folder", [("list_files", {"path": "a.txt"})], None),
    Scenario("workspace", "not_found", [("list_files", {"path": "folder"})], ("open", "folder", errno.ENOENT)),
    Scenario("workspace", "already_exists", [("write_file", {"path": "a.txt", "text": "x"})], None),
    Scenario(
        "workspace", "content_changed", [("write_file", {"path": "a.txt", "text": "x", "expected_hash": "0"})], None
    ),
    Scenario("workspace", "malformed_patch", [("patch_file", {"path": "a.txt"})], None),
    Scenario("workspace", "malformed_patch", [("patch_file", {"path": "a.txt", "diff": "x"})], None),
    Scenario(
        "workspace",
        "patch_does_not_apply",
        [("patch_file", {"path": "a.txt", "edits": [{"old": "x", "new": "y"}]})],
        None,
    ),
    Scenario("shipping", "no_order", [("get_order", {"order_id": "B-7"})]),
    Scenario("agents", "desk_busy", [("book", _BOOK)]),
    Scenario("agents", "too_many", [("book", _BOOK), ("book", {**_BOOK, "seats": 8})]),
    Scenario("agents", "sold_out", [("book", _BOOK), ("book", {"show": "Hamlet", "seats": 2})]),
)


async def play(scenario: Scenario, writes: Writes) -> tuple[Envelope, bool]:
    """The failure of the last call, and whether the probe found a change that the failure denies."""
    with tempfile.TemporaryDirectory() as folder, WORLDS[scenario.server](Path(folder), scenario.upstream) as world:
        failure: Any = None
        try:
            async with tool_client(world.server, strict=None, state=world.probe) as client:
                for number, (tool, arguments) in enumerate(scenario.calls, 1):
                    if number == len(scenario.calls):
                        writes.passed.clear()
                        writes.write = world.write
                    failure = Envelope.from_result(await client.call_tool(tool, arguments))
        except AssertionError as broken:
            return failure, "which says that nothing was changed" in str(broken)
        finally:
            writes.write = list
        return failure, False


async def measure(writes: Writes) -> tuple[dict[str, bool], list[str], set[str]]:
    """Each place that claims `none` and whether its write was found; false reports and surprises; all places passed."""
    seen: dict[str, bool] = {}
    surprises: list[str] = []
    passed: set[str] = set()
    for scenario in SCENARIOS:
        writes.on = None
        failure, is_reported = await play(scenario, writes)
        places = sorted(writes.passed)
        passed.update(places)
        if failure is None or failure.reason != scenario.reason:
            surprises.append(f"{scenario}: {failure}")
        elif is_reported:
            surprises.append(f"{scenario}: reported although nothing was written")
        elif failure.effects == "none":
            for place in places:
                writes.on = place
                seen[place] = (await play(scenario, writes))[1] and seen.get(place, True)
    return seen, surprises, passed


def page(places: list[str], seen: dict[str, bool], passed: set[str]) -> str:
    """The figures in Markdown."""
    rows = [
        f"| {name} | {sum(place.startswith(name) for place in places)} "
        f"| {sum(place.startswith(name) for place in seen)} "
        f"| {sum(is_found for place, is_found in seen.items() if place.startswith(name))} |"
        for name in SERVERS
    ]
    missed = [f"- `{place}`" for place, is_found in sorted(seen.items()) if not is_found]
    untouched = [f"- `{place}`" for place in places if place not in passed]
    return "\n".join(
        [
            "# Writes before failures that deny them",
            "",
            "`python -m bench.testing.effects` writes this page. It inserts a write before each `raise` of the",
            "examples' servers, one at a time, makes the failures happen, and counts the writes that",
            "`tool_client(state=probe)` reports. A `raise` claims `none` if a call that passes it fails with the",
            "effects `none`, declared or of a read-only tool.",
            "",
            "| server | `raise` statements | claim `none` | writes found |",
            "|---|---:|---:|---:|",
            *rows,
            "",
            (
                f"{sum(seen.values())} of {len(seen)} writes are found. Without a write, {len(SCENARIOS)} scenarios "
                "report nothing."
            ),
            "",
            *(["Not found:", "", *missed, ""] if missed else []),
            "No scenario passes these statements, of tools that write and whose failures declare no effects:",
            "",
            *untouched,
        ]
    )


def main() -> int:
    """Run the bench; 1 if too few writes are found, or a true claim is reported."""
    parser = argparse.ArgumentParser(prog="python -m bench.testing.effects", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only print the figures")
    quick = parser.parse_args().quick
    writes = Writes()
    setattr(builtins, "__inserted_write__", writes)  # noqa: B010 - type checkers know no such name
    with tempfile.TemporaryDirectory() as folder:
        places = copy_with_writes(Path(folder))
        seen, surprises, passed = anyio.run(measure, writes)
    text = page(places, seen, passed)
    print(text, *surprises, sep="\n")
    if not quick:
        PAGE.write_text(text + "\n", encoding="utf-8")
    return int(bool(surprises) or sum(seen.values()) < TARGET * len(seen))


if __name__ == "__main__":
    sys.exit(main())
