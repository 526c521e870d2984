"""Text that clearly looks like a secret reaches no client in any dialect; declared texts and ordinary words do."""

from __future__ import annotations

import json
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Literal

import anyio
import pytest
from hypothesis import given, strategies as st
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from mcpcore import Context, ErrorCode, FailureMode, Limits, Server, not_found, tool
from mcpcore.services.batch import Batch, BatchResult
from mcpcore.values.jsonable import Cut
from mcpcore.wire.dialects import DIALECTS
from mcpcore.wire.envelope_builder import build_envelope
from mcpcore.wire.redaction import REDACTED, redact_message, redact_recovery, redact_value
from mcpcore.wire.redaction.wire import may_hold_secret
from tests.answers import settled
from tests.audit.redaction_cases import LOOK_ALIKES, TOKENS
from tests.tables import in_one_test

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn\n-----END RSA PRIVATE KEY-----"
SHAPES = [
    (PEM, "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn"),
    (PEM.replace("\n", "\\n"), "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn"),
    (PEM[:60], "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn"[:20]),
    ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ("ASIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE"),
    ("ghp_abcdefghij0123456789ABCD", "ghp_abcdefghij0123456789ABCD"),
    ("github_pat_11ABCDEFG0123456789_abcdef", "11ABCDEFG0123456789"),
    ("glpat-abcdefghij0123456789", "abcdefghij0123456789"),
    ("sk-ant-api03-abcdefghij0123456789", "api03-abcdefghij0123456789"),
    ("sk_live_abcdefghij0123456789", "abcdefghij0123456789"),
    ("xoxb-1234567890-abcdefghij", "1234567890-abcdefghij"),
    ("npm_abcdefghijabcdefghijabcdefghij012345", "abcdefghijabcdefghijabcdefghij012345"),
    ("AIzaSyA-abcdefghijabcdefghijabcdefghij012", "abcdefghijabcdefghijabcdefghij012"),
    ("hf_abcdefghijABCDEFGHIJ0123", "abcdefghijABCDEFGHIJ0123"),
    ("SG.abcdefghijABCDEFGHIJ.abcdefghijABCDEFGHIJabcdefghijABCDEFGHIJ", "abcdefghijABCDEFGHIJ"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.dozjgNryP4J3jVmNHl0w5N", "eyJzdWIiOiIxMjM0NSJ9"),
    ("Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.dozjgNryP4J3", "eyJzdWIiOiIxMjM0NSJ9"),
    ("postgres://app:hUnt3r2@db.example/main", "hUnt3r2"),
    ("mongodb+srv://app:hU/nt@3r2@db.example/main", "3r2"),
    ("https://app:hUnt3r2@example.com/", "hUnt3r2"),
    ("AccountName=a;AccountKey=" + "Ab3+" * 21 + "==", "Ab3+Ab3+"),
    ("https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXX", "T00000000/B00000000"),
    *TOKENS,
]
ORDINARY = [
    {"password": "too short"},
    {"token": "expired", "secret": "none", "api_key": "must have 32 characters"},
    {"said": "password=hunter2 is too weak", "auth": "Authorization: Bearer tokens are refused here"},
    {"url": "https://example.com/a:b@c", "class": "sk-fading-circle-container", "file": "npm_config.json"},
    {"mail": "mailto:someone@example.com", "time": "12:30@noon"},
]
HARMLESS = [
    "mysql://host:3306/db?x=@",
    "mongodb://one:27017,two:27017/db?mail=a@b",
    "ldap://h:389/dc=x?mail=a@b",
    "ftp://host:21/@file",
    "https://a.example:443,bob@b.example",
    "docs/api/webhooks/deliveries",
    "https://github.com/org/repo/api/webhooks/handlers.py",
    "/api/v2/webhooks/12345678/deliveries",
    "https://hooks.slack.com/services/deliveries",
    "sk-navigation-container-element-2",
    "--sk-color-primary-background-100",
    "sk-test-suite-for-the-new-module1",
    "sk-internationalization-of-the-page",
    "pypi-some-very-long-package-name-that-exists-on-the-index",
    "xoxo-hugs-and-kisses",
    "xapp-layer-configuration-settings-1",
    "glpat-rotation-in-version-17-of-the-server",
    "hvs.policies_of_the_store_in_version_2",
    "tvly-search-in-version-2-of-the-client",
    *LOOK_ALIKES,
]
"""Texts that begin like a secret and hold none."""

DECLARED = FailureMode(
    "no_store",
    ErrorCode.CONFIGURATION_ERROR,
    when="DATABASE_URL is not of the form postgres://user:pass@host/name.",
    recovery="Set DATABASE_URL, for example to postgres://user:pass@host/name.",
    user_message="The store (redis://:pass@host) is not set up.",
)


@tool(errors=[DECLARED])
async def store(ctx: Context[Any], how: str, text: str) -> str:
    """Fail in the way that `how` names."""
    if how == "declared":
        raise ctx.fail("no_store")
    if how == "message":
        raise not_found(f"no store at {text}, ask later")
    if how == "data":
        raise not_found("no store", {"deep": [{"list": [text]}], f"key {text}": 1, f"key {text} ": 2})
    if how == "hint":
        raise not_found("no store", recovery={"hint": f"Use {text} instead.", "userMessage": f"Not {text}."})
    if how == "partial":
        raise ctx.fail("no_store", recovery={"fallback_tool": "other", "user_message": f"Not {text}."})
    if how == "reason":
        raise ctx.fail("no_store", f"no store at {text}")
    raise RuntimeError(f"at {text}, password: hunter2")


@tool(errors=[DECLARED])
async def stores(ctx: Context[Any], texts: list[str]) -> BatchResult[str]:
    """Fail for each text except the last."""
    batch = Batch[str](ctx)
    for text in texts:
        with batch.item(text):
            if text != "fine":
                raise not_found(f"no store at {text}")
            batch.add(text)
    return batch.result()


def sent(server: Server[Any], name: str, arguments: dict[str, Any]) -> str:
    """Return everything that a client gets for a call, as unescaped JSON."""
    (text,) = all_sent(server, name, [arguments])
    return text


def all_sent(server: Server[Any], name: str, calls: Iterable[dict[str, Any]]) -> list[str]:
    """Return the same for several calls."""

    async def run() -> list[str]:
        async with Client(server) as client:
            results = [await client.call_tool(name, arguments) for arguments in calls]
            return [json.dumps(result.model_dump(mode="json"), ensure_ascii=False) for result in results]

    return anyio.run(run)


@pytest.mark.server_only("the boundary searches an answer before a framework gets it")
@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize("how", ["message", "data", "hint", "partial", "reason"])
def test_no_dialect_sends_a_secret(dialect, how):
    """Secrets are redacted in the message, the data and its keys, and a recovery from the throw site."""
    server = Server("s", tools=[store], dialect=dialect)
    texts = all_sent(server, "store", ({"how": how, "text": text} for text, _ in SHAPES))
    for (text, secret), out in zip(SHAPES, texts, strict=True):
        assert secret not in out, text
    kept = Server("s", tools=[store], dialect=dialect, limits=Limits(redact_secrets=False))
    assert "AKIAIOSFODNN7EXAMPLE" in sent(kept, "store", {"how": "message", "text": "AKIAIOSFODNN7EXAMPLE"})


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_declared_texts_are_sent_unchanged(dialect):
    """They may contain an example URL."""
    out = sent(Server("s", tools=[store], dialect=dialect), "store", {"how": "declared", "text": ""})
    assert DECLARED.when in out
    assert REDACTED not in out
    # Not every dialect has a field for a recovery.
    assert DECLARED.recovery in out or dialect == "system_error"


@pytest.mark.usefixtures("door")
def test_only_additions_of_a_throw_site_are_redacted():
    """Declared and added text may appear in the same recovery."""
    out = sent(Server("s", tools=[store]), "store", {"how": "partial", "text": "https://a:hunter2@b/"})
    assert DECLARED.recovery in out
    assert "hunter2" not in out


@in_one_test(
    ("message", "data"),
    [*((json.dumps(data), data) for data in ORDINARY), *((f"got {text}", {"at": text}) for text in HARMLESS)],
)
def test_text_that_only_looks_like_a_secret_is_kept(message, data):
    """The client needs words after the name of a secret, and reads the text that it sent, in the message and in the data."""
    failure = build_envelope(ErrorCode.NOT_FOUND, message, retry=ErrorCode.NOT_FOUND.retry, tool="t", data=data)
    assert failure.message == message
    assert failure.details == data


@pytest.mark.usefixtures("door")
def test_the_items_of_a_batch_are_redacted():
    """An item repeats text from the caller."""
    texts = [*(text for text, _ in SHAPES), "fine"]
    out = sent(Server("s", tools=[stores]), "stores", {"texts": texts})
    assert [secret for _, secret in SHAPES if secret in out] == []
    kept = Server("s", tools=[stores], limits=Limits(redact_secrets=False))
    assert "AKIAIOSFODNN7EXAMPLE" in sent(kept, "stores", {"texts": texts})


@pytest.mark.usefixtures("door")
def test_protocol_errors_are_redacted():
    """The names of unknown tools, resources and prompts come from the caller."""
    secret = "ghp_abcdefghij0123456789ABCD"

    async def run(server: Server[Any]) -> list[str]:
        async with Client(server) as client:
            outcomes = [
                await settled(client.call_tool(secret, {})),
                await settled(client.get_prompt(secret)),
                await settled(client.read_resource(f"x://app:{secret}@host/a")),
            ]
        errors = [outcome.error if isinstance(outcome, MCPError) else outcome for outcome in outcomes]
        return [json.dumps(error.model_dump(mode="json")) for error in errors]

    for unknown in ("protocol", "result"):
        assert [text for text in anyio.run(run, Server("s", unknown_tool=unknown)) if secret in text] == []


@pytest.mark.usefixtures("door")
def test_a_failure_that_is_passed_on_is_redacted():
    """An upstream server may not redact its failures."""
    secret = "ghp_abcdefghij0123456789ABCD"
    upstream = build_envelope(
        ErrorCode.NOT_FOUND,
        f"no {secret}",
        retry=ErrorCode.NOT_FOUND.retry,
        tool=secret,
        data={"at": secret},
        context={"session_id": secret},
        limits=Limits(redact_secrets=False),
    )
    assert secret in upstream.message

    @tool
    async def relay() -> CallToolResult:
        """Pass on the failure of another server."""
        return CallToolResult(
            content=[TextContent(type="text", text=upstream.text())],
            structured_content={"error": upstream.to_json()},
            is_error=True,
        )

    out = sent(Server("s", tools=[relay]), "relay", {})
    assert "NOT_FOUND" in out
    assert secret not in out
    assert secret in sent(Server("s", tools=[relay], limits=Limits(redact_secrets=False)), "relay", {})


@pytest.mark.usefixtures("door")
def test_the_message_of_an_exposed_exception_is_redacted_like_its_data():
    """Values are also redacted by name, since the message was not written for a client."""
    server = Server("s", tools=[store], expose_internal_errors=True)
    out = sent(server, "store", {"how": "crash", "text": "postgres://app:hUnt3r2@db/main"})
    assert "RuntimeError" in out
    assert "hUnt3r2" not in out
    assert "hunter2" not in out


@given(st.sampled_from(SHAPES), st.integers(0, 1_200), st.integers(0, 600))
def test_a_cut_leaves_no_part_of_a_secret(shape, before, after):
    """Wherever the cut is, no ten consecutive characters of a secret remain."""
    text, secret = shape
    message = "x " * (before // 2) + text + " y" * (after // 2)
    failure = build_envelope(
        ErrorCode.NOT_FOUND, message, retry=ErrorCode.NOT_FOUND.retry, tool=None, data={"a": [message] * 60}
    )
    part = secret[-10:]
    assert part not in failure.message
    assert part not in json.dumps(failure.details)


@given(st.text(max_size=60), st.integers(5, 40))
def test_a_long_text_without_a_secret_is_unchanged(text, limit):
    """Code that cuts it later reports its original length."""
    long = "word " * 600 + text
    assert redact_message(long, limit) == long


def test_a_long_text_with_a_secret_is_cut_at_the_visible_limit():
    """The note gives the original length, and the rest is never searched."""
    text = "AKIAIOSFODNN7EXAMPLE " + "word " * 100_000
    clean = redact_message(text, 100)
    assert clean.startswith(f"{REDACTED} word")
    assert clean.endswith(f"… (cut: {len(text)} characters in all)")
    assert len(clean) < 200


def test_values_beyond_the_visible_limit_are_withheld():
    """Of many long texts, only the part that a client can see is searched."""
    long = "word " * 1_000
    clean = redact_value({"rows": [long] * 100, "pair": (1, None)}, 100)
    assert clean["rows"][0] == long
    assert clean["rows"][-1] == "…"
    assert set(redact_value({f"{n} {long}": n for n in range(100)}, 100).values()) == set(range(100))


def test_declared_parts_of_a_recovery_are_kept():
    """Each part is compared separately."""
    declared = {"hint": "Use postgres://user:pass@host."}
    assert redact_recovery(declared, declared, 100) is declared
    given_recovery = {**declared, "userMessage": "Not postgres://user:pass@host."}
    assert redact_recovery(given_recovery, declared, 100) == {
        **declared,
        "userMessage": f"Not postgres://user:{REDACTED}@host.",
    }


@in_one_test(
    "wrap",
    [lambda text: text, lambda text: [1, 2.5, None, True, {"a": [text]}], lambda text: {f"{text} ": False}],
)
@in_one_test(("text", "secret"), SHAPES)
def test_one_search_finds_a_secret_in_any_part(wrap, text, secret):
    """A failure without a secret needs no second search."""
    assert may_hold_secret("fine", None, {"n": 1}, wrap(f"at {text}"))
    assert not may_hold_secret("fine", None, {"n": 1}, wrap("at home"))


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    "odd",
    ["word " * 25_000, ["x"] * 100_001, {"rows": [["a"] * 200] * 500}, LOOP, ("x",), Cut("x", 9), MappingProxyType({})],
    ids=["a long text", "many texts", "many rows", "a cycle", "a tuple", "a cut text", "a view"],
)
def test_large_and_odd_values_are_left_to_the_search_of_each_part(odd):
    """That search stops at the limit that a client can see."""
    assert may_hold_secret("fine", odd)
    failure = build_envelope(ErrorCode.NOT_FOUND, "fine", retry=ErrorCode.NOT_FOUND.retry, tool="t", data={"odd": odd})
    assert REDACTED not in json.dumps(failure.to_json())


def test_a_recovery_without_a_hint_is_searched_too():
    """The search leaves out only the declared hint."""
    advice = ErrorCode.NOT_FOUND.retry
    for recovery in ({"userMessage": "AKIAIOSFODNN7EXAMPLE"}, {"hint": "AKIAIOSFODNN7EXAMPLE"}):
        failure = build_envelope(ErrorCode.NOT_FOUND, "m", retry=advice, tool=None, recovery=recovery, entry=DECLARED)
        assert "AKIA" not in json.dumps(failure.to_json())
    recovery = {"hint": DECLARED.recovery}
    failure = build_envelope(ErrorCode.NOT_FOUND, "m", retry=advice, tool=None, recovery=recovery, entry=DECLARED)
    assert failure.hint == DECLARED.recovery


def test_the_note_on_omitted_items_is_kept():
    """The framework wrote this text."""
    data = {"store": "AKIAIOSFODNN7EXAMPLE", "rows": list(range(20_000))}
    failure = build_envelope(
        ErrorCode.NOT_FOUND,
        "m",
        retry=ErrorCode.NOT_FOUND.retry,
        tool=None,
        data=data,
        limits=Limits(data=200_000),
    )
    assert failure.details["store"] == REDACTED
    assert "more" in failure.details["rows"][-1]


@pytest.mark.usefixtures("door")
def test_a_recovery_that_contains_itself_loses_only_the_cycle():
    """The failure keeps the code and the hint from the throw site."""

    @tool
    async def loop() -> None:
        raise not_found(
            "no store", recovery={"hint": "Ask for AKIAIOSFODNN7EXAMPLE.", "corrective_params": {"a": LOOP}}
        )

    out = sent(Server("s", tools=[loop]), "loop", {})
    assert "NOT_FOUND" in out
    assert f"Ask for {REDACTED}." in out


@pytest.mark.parametrize("value", [0, 1, None, "yes"])
def test_the_switch_must_be_a_bool(value):
    """Any other value would be misread as true or false."""
    with pytest.raises(ValueError, match=r"Limits\(redact_secrets=\.\.\.\) must be True or False, not"):
        Limits(redact_secrets=value)


@pytest.mark.usefixtures("door")
def test_a_secret_in_the_words_about_bad_arguments_is_hidden_each_time(call: Any) -> None:
    """The words are kept for the next call with the same mistake, and what is known of their secrets with them."""

    @tool
    def read(key: Literal["AKIAIOSFODNN7EXAMPLE", "b"], mode: Literal["a", "b"] = "a") -> str:
        return f"{key} {mode}"

    server = Server("s", tools=[read])
    answers = [call(server, "read", {"key": key, "mode": "c"}) for key in ("c", "c", "b", "b")]

    assert [True, True, False, False] == [REDACTED in answer.content[0].text for answer in answers]
    assert all("AKIA" not in answer.model_dump_json() for answer in answers)
