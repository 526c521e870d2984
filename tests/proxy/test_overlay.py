"""The overlay: what is accepted, what matches, and what a match means for a client."""

from __future__ import annotations

import json
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpcore import Contract, Envelope, ErrorCode, Retry
from mcpcore.boundary.script import Boundary
from mcpcore.proxy.answers import ResponseRewriter
from mcpcore.proxy.conversation import Conversation
from mcpcore.proxy.learning import Learner
from mcpcore.proxy.listings import Listing
from mcpcore.proxy.overlay import Facts, Overlay, OverlayError, json_schema
from tests.answers import envelope_of
from tests.proxy.conftest import PLAIN, Connect, request
from tests.proxy.test_conversation import respond, talk

OVERLAY = """
version = 1
server = "plain"

[[tools.charge]]
reason = "too_many"
code = "RATE_LIMITED"
when = "The payment service limits requests."
recovery = "Wait, then charge again."
retry.after = 90
effects = "none"
fallback_tool = "add"
fallback_arguments = {a = "{amount}", b = 1}
match.text = "rate limit"

[[tools.charge]]
reason = "never_seen"
code = "CONFLICT"
when = "It never happens."
recovery = "Do nothing."
match.status = 409

[[tools."*"]]
reason = "negative"
code = "VALIDATION_ERROR"
when = "A number is negative."
recovery = "Send a positive number."
retry = "never"
match.text = "must not be negative$"
"""


def overlay(**match: Any) -> Overlay:
    """Return an overlay of one entry."""
    entry = {"reason": "r", "code": "NOT_FOUND", "when": "It is.", "recovery": "Do.", "match": match}
    return Overlay.of({"version": 1, "tools": {"t": [entry]}})


@pytest.mark.parametrize(
    ("match", "facts", "fits"),
    [
        ({"text": "no (row|table)"}, Facts(text="there is no table x"), True),
        ({"text": "^no"}, Facts(text="there is no table x"), False),
        ({"json": {"error.type": "gone"}}, Facts(json={"error": {"type": "gone"}}), True),
        ({"json": {"errors.0.type": "gone"}}, Facts(json={"errors": [{"type": "gone"}]}), True),
        ({"json": {"errors.1.type": "gone"}}, Facts(json={"errors": [{"type": "gone"}]}), False),
        ({"json": {"a": 1}}, Facts(json={"a": True}), False),
        ({"json": {"a": None}}, Facts(json={}), False),
        ({"json": {"a": None}}, Facts(json={"a": None}), True),
        ({"json": {"a": {"pattern": "^x+$"}}}, Facts(json={"a": "xxx"}), True),
        ({"json": {"a": {"pattern": "^x+$"}}}, Facts(json={"a": 3}), False),
        ({"code": -32002}, Facts(code=-32002), True),
        ({"code": "ENOENT"}, Facts(json={"error": {"code": "ENOENT"}}), True),
        ({"code": "ENOENT"}, Facts(json={"code": "EACCES"}), False),
        ({"status": 404}, Facts(json={"status": 404}), True),
        ({"status": 404}, Facts(text="Request failed with status code 404"), True),
        ({"status": 404}, Facts(text="HTTP/1.1 404 Not Found"), True),
        ({"status": 404}, Facts(text="404 articles"), False),
        ({"status": 404, "text": "x"}, Facts(text="HTTP 404"), False),
    ],
)
def test_what_matches(match: dict[str, Any], facts: Facts, fits: bool) -> None:
    """All that is named must hold."""
    assert fits == (overlay(**match).tools.mode_of("t", facts) is not None)


def test_an_entry_may_have_several_matches() -> None:
    """One of them must hold, with all that it names."""
    entry = {**ENTRY, "match": [{"text": "gone", "code": 1}, {"status": 404, "in_success": True}]}
    section = Overlay.of({"version": 1, "tools": {"t": [entry]}}).tools
    for facts, fits in (
        (Facts(text="gone", code=1), (True, False)),
        (Facts(text="gone", code=2), (False, False)),
        (Facts(text="HTTP 404"), (True, True)),
    ):
        assert fits == tuple(section.mode_of("t", facts, success=success) is not None for success in (False, True))


def test_resources_are_named_by_uri_or_template() -> None:
    """The entries of the URI itself come first, then those of its templates, then those of all resources."""
    names = ("thing://{kind}/(x)", "thing://a/(x)", "*", "other://{+path}.{ext}", "thing://a/{name}")
    read = Overlay.of(
        {
            "version": 1,
            "resources": {name: [{**ENTRY, "reason": f"r{number}"}] for number, name in enumerate(names)},
            "prompts": {"a{b}": [ENTRY]},
        }
    )
    for uri, reasons in (
        ("thing://a/(x)", ("r1", "r0", "r4", "r2")),
        ("thing://b/(x)", ("r0", "r2")),
        ("thing://b/x", ("r2",)),
        ("thing://a/{name}", ("r4", "r2")),
        ("other://x/y\nz.txt", ("r3", "r2")),
    ):
        assert reasons == read.resources.contract_of(uri).reasons
    assert () == read.prompts.contract_of("ab").reasons
    assert ("r",) == read.prompts.contract_of("a{b}").reasons
    assert [*((f"resources.{name}", f"r{number}") for number, name in enumerate(names)), ("prompts.a{b}", "r")] == list(
        read.unfired()
    )


def test_the_order_of_entries() -> None:
    """The entries of a tool come before those of all tools; other tools have only those."""
    read = Overlay.of(tomllib.loads(OVERLAY))
    assert ("too_many", "never_seen", "negative") == read.tools.contract_of("charge").reasons
    assert ("negative",) == read.tools.contract_of("other").reasons
    assert () == read.tools.contract_of(None).reasons
    assert read.tools.mode_of("other", Facts(text="a must not be negative")) is not None
    assert [("charge", "too_many"), ("charge", "never_seen")] == list(read.unfired())


def test_a_success_counts_only_if_the_entry_says_so() -> None:
    """`in_success` is for servers that send failures as successes in their own way."""
    facts = Facts(text="Nothing came of it")
    assert overlay(text="Nothing").tools.mode_of("t", facts, success=True) is None
    assert overlay(text="Nothing", in_success=True).tools.mode_of("t", facts, success=True) is not None


def test_no_regular_expression_takes_long() -> None:
    """A pattern that explodes in other engines takes linear time."""
    start = time.perf_counter()
    for pattern in (r"(a+)+$", r"(a|a)*b", r"(.*)*x", r"^(\w+\s?)*$"):
        overlay(text=pattern).tools.mode_of("t", Facts(text="a" * 100_000 + "!"))
    assert 2 > time.perf_counter() - start


ENTRY: dict[str, Any] = {
    "reason": "r",
    "code": "NOT_FOUND",
    "when": "It is.",
    "recovery": "Do.",
    "match": {"text": "x"},
}


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        ({}, "version"),
        ({"version": 2}, "version"),
        ({"version": 1, "tool": {}}, "tool"),
        ({"version": 1, "tools": {"t": [{**ENTRY, "code": "NO_SUCH"}]}}, "tools.t.0.code"),
        ({"version": 1, "tools": {"t": [{**ENTRY, "reason": "Not Snake"}]}}, "tools.t.0.reason"),
        ({"version": 1, "tools": {"t": [{**ENTRY, "retry": "often"}]}}, "tools.t.0.retry"),
        ({"version": 1, "tools": {"t": [{**ENTRY, "match": {}}]}}, "a match needs text, json, code or status"),
        ({"version": 1, "tools": {"t": [{**ENTRY, "match": {"text": "(?=x)"}}]}}, "look-around"),
        ({"version": 1, "tools": {"t": [{**ENTRY, "match": {"text": "("}}]}}, "cannot be used"),
        ({"version": 1, "tools": {"t": [{"mach": {}, "reason": "x"}]}}, "mach: unknown key; did you mean 'match'?"),
        ({"version": 1, "tools": {"t": [{**ENTRY, "match": {"regex": "x"}}]}}, "tools.t.0.match.regex"),
        ({"version": 1, "tools": {"t": [{**ENTRY, "when": "  "}]}}, "tools.t.0.when"),
        ({"version": 1, "tools": {"t": [ENTRY, ENTRY]}}, "tools.t: the reason 'r' is used twice"),
        ({"version": 1, "prompts": {"p": [ENTRY, ENTRY]}}, "prompts.p: the reason 'r' is used twice"),
        ({"version": 1, "tools": {"t": [{**ENTRY, "match": []}]}}, "tools.t.0.match"),
        (
            {"version": 1, "tools": {"t": [{**ENTRY, "match": [{"text": "x"}, {"test": "x"}]}]}},
            "tools.t.0.match.1.test",
        ),
        ({"version": 1, "resources": {"a://" + "{x}" * 1000: [ENTRY]}}, "the most is 2000"),
        ([], "valid dictionary"),
    ],
)
def test_what_is_refused(plain: Any, said: str) -> None:
    """The message names the place, and says what is wrong."""
    with pytest.raises(OverlayError) as caught:
        Overlay.of(plain)
    assert said in str(caught.value)


def test_files(tmp_path: Path) -> None:
    """TOML and JSON say the same; a broken file says where it is."""
    toml, plain, broken = tmp_path / "a.toml", tmp_path / "a.json", tmp_path / "b.toml"
    toml.write_text(OVERLAY)
    plain.write_text(json.dumps(tomllib.loads(OVERLAY)))
    assert Overlay.read(toml).tools.contracts == Overlay.read(plain).tools.contracts
    broken.write_text("version = ")
    with pytest.raises(OverlayError, match=r"b\.toml is not TOML"):
        Overlay.read(broken)
    with pytest.raises(OverlayError, match="cannot be read"):
        Overlay.read(tmp_path)
    broken.write_bytes(b" " * 2_000_001)
    with pytest.raises(OverlayError, match="larger than"):
        Overlay.read(broken)


def test_the_json_schema_accepts_what_the_reader_accepts() -> None:
    """The published schema is valid, takes the example, and refuses an unknown key."""
    from jsonschema import Draft202012Validator

    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert validator.is_valid(tomllib.loads(OVERLAY))
    assert not validator.is_valid({**tomllib.loads(OVERLAY), "more": 1})


@pytest.mark.anyio
async def test_a_contract_reaches_the_client(through: Connect, tmp_path: Path) -> None:
    """It is in the list of tools, and a failure that matches has its reason, its advice and the server's words."""
    path = tmp_path / "plain.toml"
    path.write_text(OVERLAY)
    async with through("--overlay", path) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert ("too_many", "never_seen", "negative") == Contract.from_listing(tools["charge"]).reasons
        failed = envelope_of(await client.call_tool("charge", {"amount": 1}))
        assert ("too_many", ErrorCode.RATE_LIMITED, "none", "add") == (
            failed.reason,
            failed.error_code,
            failed.effects,
            failed.fallback_tool,
        )
        assert {"a": 1, "b": 1} == failed.fallback_arguments
        assert Retry.after(seconds=90) == failed.retry
        assert "Wait, then charge again." == failed.hint
        assert "rate limit was exceeded" in failed.message
        negative = envelope_of(await client.call_tool("add", {"a": -1, "b": 1}))
        assert ("negative", False) == (negative.reason, negative.retryable)


def test_entries_that_match_nothing_are_reported(relay: Any, tmp_path: Path) -> None:
    """`--stats` counts the failures, and names the entries without a match."""
    path = tmp_path / "plain.toml"
    path.write_text(OVERLAY)
    initialize = request(
        "initialize", 0, protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "c", "version": "1"}
    )
    initialized = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    calls = request("tools/call", 1, name="charge", arguments={"amount": 1})
    _, errors, _ = relay(initialize + initialized + calls, "--stats", "--contract", path, "--", *PLAIN, wait_for=2)
    said = errors.decode()
    for text in (
        "1 tool call, 1 failure, 0 restarts",
        "charge  too_many",
        f"2 entries of {path} matched nothing",
        "charge  never_seen",
    ):
        assert text in said


def test_a_draft_is_learned(through: Connect, tmp_path: Path) -> None:
    """`--learn` writes an overlay that is valid, grouped by shape, without secrets, and that matches next time."""
    for suffix in ("toml", "json"):
        draft = tmp_path / f"draft.{suffix}"

        async def run() -> None:
            async with through("--learn", draft) as client:  # noqa: B023 - runs before the next turn
                for amount in (1, 2):
                    await client.call_tool("charge", {"amount": amount})
                await client.call_tool("picture", {})
                await client.call_tool("add", {})

        anyio.run(run)
        learned = Overlay.read(draft)
        assert "plain" == learned.server, "the name of the handshake"
        assert {"charge", "picture"} == set(learned.tools.entries)
        assert ("rate_limited",) == learned.tools.contract_of("charge").reasons
        facts = Facts(text="429 Too Many Requests: the rate limit was exceeded, retry after 7 seconds")
        assert learned.tools.mode_of("charge", facts) is not None


def test_a_draft_names_the_status_that_all_failures_of_a_shape_have(tmp_path: Path) -> None:
    """An entry for 429 does not match a 500 of the same shape, which gets a separate entry."""
    learner = Learner(tmp_path / "d.toml", "python", name="stock")
    sent = Envelope(code=-32003, name="RATE_LIMITED", message="", retry=Retry.never())
    for text in ("HTTP 429, HTTP 500: try again", "HTTP 429: try again", "HTTP 500: try again", "HTTP 429: try again"):
        learner.saw("tools", "get", sent, Facts(text=text), {})
    learner.saw("tools", "put", sent, Facts(json={"status": 503, "statusCode": True}), {})
    learned = Overlay.read(learner.path)
    assert "stock" == learned.server
    matches = [match for (match, *_), _ in learned.tools.entries["get"]]
    assert [429, 500, None] == [match.status for match in matches]
    assert [True, False, False] == [match.fits(Facts(text="HTTP 429: try again")) for match in matches]
    assert 503 == learned.tools.entries["put"][0][0][0].status
    assert ["d.toml"] == [path.name for path in tmp_path.iterdir()], "nothing else stays"


PATHS = ("/home/ann/a.txt", "C:\\Users\\ann\\a.txt", "/home/Ann Lee/ann.txt", "src/ann/a.txt", "'my ann/a b'", "~/ann")


@pytest.mark.parametrize(
    ("seen", "patterns", "others"),
    [
        (["no such table: users", "no such column: price"], ["no such .+"], ["nobody", "say no such thing"]),
        (
            ["Entity with name Ann not found", "Entity with name Bob B. not found"],
            ["Entity with name .+ not found"],
            [],
        ),
        (["ENOENT: no such file, open '/a'", "ENOENT: no such file, stat '/b'"], ["ENOENT: no such file, .+"], ["no"]),
        (["Error executing tool get: no such row", "no such line"], ["no such .+"], ["and no such row"]),
        (["no table", "no column"], ["no table", "no column"], ["no"]),
        (["could read no file", "could open a socket"], ["could read no file", "could open a socket"], []),
        ([f"could not open the file {path}" for path in PATHS], ["could not open the file .+"], [*PATHS]),
        ([*PATHS[:2], "the disk is full"], ["the disk is full"], [*PATHS]),
        (
            [("read", "ENOENT: no file '/a'"), ("stat", "ENOENT: no file '/b'"), ("get", "it exists")],
            ["no file", "it"],
            [],
        ),
    ],
)
def test_texts_of_one_shape_have_one_pattern(seen: Any, patterns: list[str], others: list[str], tmp_path: Path) -> None:
    """They begin and end alike, in half of their words. Those of several tools are of all, and paths stay private."""
    learner = Learner(tmp_path / "d.toml", "python")
    for name, text in ((("get", part) if isinstance(part, str) else part) for part in seen):
        learner.saw(
            "tools", name, Envelope(code=1, name="NOT_FOUND", message="", retry=Retry.never()), Facts(text=text), {}
        )
    assert not any(part in learner.path.read_text() for part in ("ann", ': …"'))
    learned = Overlay.read(learner.path).tools
    assert (len(seen) == 3 and isinstance(seen[0], tuple)) == ("*" in learned.entries)
    texts = [str(match.text) for name in sorted(learned.entries) for (match, *_), _ in learned.entries[name]]
    assert [True] * len(patterns) == [pattern in text for pattern, text in zip(patterns, texts, strict=True)]
    assert not any(learned.mode_of("get", Facts(text=text)) for text in others)


@pytest.mark.parametrize(
    "seen",
    [
        ["ENOENT: no such file, open '/a'", "Delete failed: ENOENT: no such file, open '/b'"],
        ["the row was not found", "the row of the table was not found", "the row in the cache was not found"],
        ["cannot open the file", "cannot open the file for writing"],
    ],
)
def test_a_pattern_matches_each_text_that_it_was_drafted_from(seen: list[str], tmp_path: Path) -> None:
    """One may have no words where the others have some."""
    for texts in (seen, seen[::-1]):
        learner = Learner(tmp_path / f"{texts[0][:3]}.toml", "python")
        for text in texts:
            sent = Envelope(code=1, name="NOT_FOUND", message="", retry=Retry.never())
            learner.saw("tools", "get", sent, Facts(text=text), {})
        (((match, *_), _),) = Overlay.read(learner.path).tools.entries["get"]
        assert [True] * len(seen) == [match.fits(Facts(text=text)) for text in seen]


def test_one_pattern_has_one_code(tmp_path: Path) -> None:
    """A second entry for texts that differ in a later line would match nothing."""
    learner = Learner(tmp_path / "d.toml", "python")
    for name, code in (("ls 1", "NOT_FOUND"), ("curl 2", "RATE_LIMITED"), ("ls 3", "NOT_FOUND")):
        sent = Envelope(code=1, name=code, message="", retry=Retry.never())
        learner.saw("tools", "get", sent, Facts(text=f"Command failed: '{name}'\n{code}"), {})
    ((_, mode),) = Overlay.read(learner.path).tools.entries["get"]
    assert ("command_failed", "UNKNOWN_ERROR") == (mode.reason, mode.code.name)


def answered(
    result: dict[str, Any], overlay: Overlay | None = None, *, learn: Path | None = None, name: str = "t", **sent: Any
) -> bytes:
    """Return the line that the client gets for a result of a tool; the server has one, `t`."""
    answers = ResponseRewriter(
        Boundary(server="s", audit=None), overlay or Overlay(), learner=None if learn is None else Learner(learn, "s")
    )
    conversation = Conversation(answers, Listing(complete=True))
    conversation.listing.learn({"tools": [{"name": "t"}]})
    conversation.from_client(request("tools/call", 1, name=name, **sent))
    (answer,) = conversation.from_server(json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()).to_client
    return answer


@pytest.mark.parametrize("is_error", [True, False])
def test_a_draft_names_no_tool_that_does_not_exist(is_error: bool, tmp_path: Path) -> None:
    """A client may call anything; the list of the server says what there is."""
    for name, is_drafted in (("gte", False), ("t", True)):
        content = [{"type": "text", "text": "Error: the thing is not there"}]
        answered({"isError": is_error, "content": content}, learn=tmp_path / "d.toml", name=name)
        assert is_drafted == (tmp_path / "d.toml").exists()


@pytest.mark.parametrize("is_error", [True, False])
def test_what_the_caller_sent_is_no_part_of_a_pattern(is_error: bool, tmp_path: Path) -> None:
    """Another call of the tool fails in the same words but for its arguments, of which a short one is left as a word."""
    content = [{"type": "text", "text": "Error: Room blue is booked on Monday at 9"}]
    arguments = {"room": "blue", "day": "Monday", "verb": "is", "hour": 9, "other": "Room b"}
    answered({"isError": is_error, "content": content}, learn=(path := tmp_path / "d.toml"), arguments=arguments)
    (match, *_), mode = Overlay.read(path).tools.entries["t"][0]
    assert "Room … is booked on … at …" == mode.when.removeprefix("Error: ")
    assert match.text is not None
    assert match.text.endswith("Room .+ is booked on .+ at .+")


@pytest.mark.parametrize("suffix", ["toml", "json"])
@pytest.mark.parametrize(
    ("result", "matches"),
    [
        ({"content": [{"type": "text", "text": "Error: the disk is full"}]}, {"text", "in_success"}),
        ({"content": [], "structuredContent": {"ok": False}}, {"json_path", "in_success"}),
        (
            {"content": [], "structuredContent": {"status": "error", "message": "The disk is full."}},
            {"json_path", "in_success"},
        ),
        ({"content": [{"type": "text", "text": '{"error": "the disk is full"}'}]}, {"json_path", "in_success"}),
    ],
)
def test_a_suspected_success_is_drafted_and_left_to_the_owner(
    result: dict[str, Any], matches: set[str], suffix: str, tmp_path: Path
) -> None:
    """The entry counts once its recovery is written; then the same success is a failure."""
    path = tmp_path / f"d.{suffix}"
    unchanged = answered(result)
    assert unchanged == answered(result, learn=path) == answered(result, drafted := Overlay.read(path, drafts=False))
    assert (1, ()) == (len(drafted.left_out), drafted.tools.contract_of("t").reasons)
    path.write_text(path.read_text().replace("TODO: say what the caller can do about it.", "Free some space."))
    assert b"Free some space." in answered(result, finished := Overlay.read(path, drafts=False))
    assert matches <= finished.tools.entries["t"][0][0][0].model_fields_set
    other = json.loads(json.dumps(result).replace('"Error: ', '"The log has Error: ').replace("false", "true"))
    assert (other == result) == (answered(other) != answered(other, finished)), "the words elsewhere are no failure"


def test_the_command_uses_no_draft(relay: Any, tmp_path: Path) -> None:
    """It says which entries it leaves out, and counts what it suspects."""
    answered(
        {"isError": True, "content": [{"type": "text", "text": "404 not found"}]}, learn=(draft := tmp_path / "d.toml")
    )
    lines = request("tools/call", 1, name="suspect") + request("tools/list", 2)
    script = (
        "import json\n"
        "for line in (json.loads(input()) for _ in range(2)):\n"
        "    answer = {'content': [{'type': 'text', 'text': 'Error: x'}], 'tools': []}\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': line['id'], 'result': answer}), flush=True)"
    )
    out, errors, _ = relay(lines, "--stats", "--overlay", draft, "--", sys.executable, "-c", script, wait_for=2)
    assert b"TODO" not in out
    assert f"{draft}: not used until the recovery is written: 1 entry: tools.t not_found" in errors.decode()
    assert "1 success passed unchanged, and may be failures; see --learn:\n       1  suspect" in errors.decode()


def test_a_draft_of_no_failures_is_not_written(relay: Any, tmp_path: Path) -> None:
    """A file would stop the next run."""
    _, errors, code = relay(b"", "--learn", tmp_path / "d.toml", "--", "cat")
    assert 0 == code
    assert b"nothing was written" in errors
    assert [] == list(tmp_path.iterdir())


def test_a_draft_has_shapes_and_no_secrets(tmp_path: Path) -> None:
    """Names, paths, ids and numbers are variable; a token is not in the file."""
    learner = Learner(tmp_path / "d.toml", 'a "server"\x7f')
    sent = Envelope(code=-32001, name="NOT_FOUND", message="", retry=Retry.never())
    token = "ghp_" + "a1B2" * 9
    for name, path in (("x", "/srv/a"), ("y", "C:\\b\\c")):
        learner.saw("tools", "get", sent, Facts(text=f"no file '{name}' at {path} (id 17) with {token}\nmore"), {})
    learner.saw("tools", "get", sent, Facts(text="no such table"), {})
    learner.saw("tools", "get", sent, Facts(text="\u202e\x1b[31m"), {})
    learner.saw("tools", "get", sent, Facts(text="7 8 9", code=-32000), {})
    assert token not in (tmp_path / "d.toml").read_text()
    entries = Overlay.read(tmp_path / "d.toml").tools.entries["get"]
    assert 4 == len(entries)
    assert ["not_found", "not_found_2", "not_found_3", "not_found_4"] == [mode.reason for _, mode in entries]
    assert entries[0][0][0].fits(Facts(text=f"no file 'z' at ./q (id 3) with {token}"))


@pytest.mark.parametrize(
    ("text", "again", "other"),
    [
        (
            {"error": {"type": "quota", "message": "No more quota for 12345"}},
            {"error": {"message": "No more quota for 67890"}},
            {"error": {"message": "No more room"}},
        ),
        (
            {"error": {"message": "Der Käufer 'Ann' hat kein \"Konto\""}},
            {"error": {"message": "Der Käufer 'Bob' hat kein \"Geld\""}},
            {"error": {"message": "Der Kunde 'Ann' hat ein \"Konto\""}},
        ),
        ({"error": "busy 12"}, {"error": "busy 13"}, {"error": "the busy 13"}),
        ({"error": "Error: a"}, {"error": "Error: a"}, {"error": "Error: b"}),
        ("a", "a", "ab"),
        ("Error: a", "Error: a", "Error: ab"),
        ("\n  a\nb", "\n  a\nc", "ba\nb"),
        ("Error: \n a", "Error: \n a", "Error: \n b"),
        ("not found: 7", "not found: 8", "the table was not found: 8"),
    ],
)
def test_a_draft_matches_the_same_failure_of_another_thing(text: Any, again: Any, other: Any, tmp_path: Path) -> None:
    """JSON is compared by its message; a short text must be the whole line."""
    said = text if isinstance(text, str) else json.dumps(text)
    answered({"isError": True, "content": [{"type": "text", "text": said}]}, learn=tmp_path / "d.toml")
    (((match, *_), _),) = Overlay.read(tmp_path / "d.toml").tools.entries["t"]
    assert [True, True, False] == [
        match.fits(Facts(text=said if isinstance(said, str) else json.dumps(said))) for said in (text, again, other)
    ]


@pytest.mark.parametrize(
    "path", sorted(Path(__file__).parents[2].glob("examples/overlays/*.toml")), ids=lambda path: path.stem
)
def test_each_entry_of_the_overlays_of_servers(path: Path) -> None:
    """Each result gets its reason, a success without an entry is unchanged, and every entry matches a result."""
    overlay = Overlay.read(path, drafts=False)
    for case in json.loads((path.parent / "cases" / f"{path.stem}.json").read_text(encoding="utf-8")):
        message = respond(talk(name=case["tool"], overlay=overlay), **case["answer"])
        envelope = Envelope.from_result(message)
        if envelope is None:
            assert (None, case["answer"]["result"]) == (case["reason"], message["result"]), case
        else:
            assert (case["reason"], case["reason"] is None) == (envelope.reason, envelope.inferred), case
    assert ([], []) == (list(overlay.unfired()), list(overlay.left_out))
