"""Placeholders in declared texts: `recovery="Order at most {left}."`, filled from the data of the failure."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from typing import Any, TypedDict

import pytest
from hypothesis import given, strategies as st
from mcp import Client
from pydantic import BaseModel, Field, computed_field

from mcpcore import (
    TODO,
    CodedError,
    Context,
    Contract,
    ContractError,
    Envelope,
    ErrorCode,
    FailureMode,
    Limits,
    Server,
    tool,
)
from mcpcore.catalog import compare
from mcpcore.services.batch import Batch, BatchResult
from mcpcore.testing import assert_fails, raises_reason
from mcpcore.values.escaping import one_line
from mcpcore.wire.envelope_text import read
from tests.answers import ask, envelope_of
from tests.catalog.making import catalog, failure, item

CONFLICT = ErrorCode.CONFLICT


class Stock(BaseModel):
    item: str
    left: int
    note: str = ""


def mode(reason: str = "too_many", **options: Any) -> FailureMode[Any]:
    """Return a failure mode with templates, if nothing else is said."""
    texts = {
        "when": "Only {left} of {item} are left.",
        "recovery": "Order at most {left}.",
        "user_message": "{item}: {{{left}}}",
        "data": Stock,
    }
    return FailureMode(reason, CONFLICT, **{**texts, **options})


TOO_MANY = mode()
TOKEN = "ghp_" + "a1B2" * 9


def failing(entry: FailureMode[Any], fail: Any) -> Any:
    """Return a tool that declares `entry` and raises what `fail` makes of its context."""

    @tool(errors=[entry])
    def order(ctx: Context) -> str:
        raise fail(ctx)

    return order


def sent(entry: FailureMode[Any], fail: Any, **options: Any) -> tuple[str, Envelope]:
    """Return the text of the failure and its envelope, as a client of a server receives them."""
    result = ask(
        Client(Server("shop", tools=[failing(entry, fail)], **options)), lambda client: client.call_tool("order", {})
    )
    text: str = getattr(result.content[0], "text", "")
    return text, envelope_of(result)


@pytest.mark.usefixtures("door")
class TestOnAServer:
    def test_values_of_the_data_are_in_the_texts(self) -> None:
        """Message, hint and message for users say the facts, on both surfaces."""
        text, envelope = sent(TOO_MANY, lambda ctx: ctx.fail("too_many", data=Stock(item="chair", left=3)))
        assert text.startswith("Error: Only 3 of chair are left.\n\nRecovery: Order at most 3.\n\nDetails: ")
        assert "Only 3 of chair are left." == envelope.message
        assert {"hint": "Order at most 3.", "userMessage": "chair: {3}"} == envelope.recovery

    @pytest.mark.parametrize("data", [None, {"item": "chair"}, {"item": "chair", "left": "three"}])
    def test_without_fitting_data_the_templates_are_not_sent(self, data: Any) -> None:
        """The code's own sentence is the message, and the fallback tool is still sent."""
        text, envelope = sent(mode(fallback_tool="order"), lambda ctx: ctx.fail("too_many", data=data))
        assert CONFLICT.sentence == envelope.message
        assert {"fallbackTool": "order"} == envelope.recovery
        assert "{" not in text.replace("Details: {", "")

    def test_only_texts_with_placeholders_need_data(self) -> None:
        """A text without braces, or with doubled ones alone, is sent where the data is missing."""
        entry = mode(when="There are too few.", recovery="Send {{}} to order less.")
        _, envelope = sent(entry, lambda ctx: ctx.fail("too_many"))
        assert ("There are too few.", "Send {} to order less.") == (envelope.message, envelope.hint)

    def test_a_blank_text_is_not_sent(self) -> None:
        """A template whose values are empty says nothing."""
        entry = mode(when="{item}", recovery=" {item} ", user_message=None)
        _, envelope = sent(entry, lambda ctx: ctx.fail("too_many", data={"item": "", "left": 1}))
        assert (CONFLICT.sentence, None) == (envelope.message, envelope.recovery)

    def test_texts_of_the_throw_site_are_no_templates(self) -> None:
        """They may hold a caller's words."""
        data = {"item": "{left}", "left": 3}
        _, envelope = sent(
            TOO_MANY,
            lambda ctx: ctx.fail("too_many", "No {item}.", data, recovery={"hint": "{left}", "actions": ["{item}"]}),
        )
        assert ("No {item}.", {"hint": "{left}", "actions": ["{item}"]}) == (envelope.message, envelope.recovery)
        _, envelope = sent(TOO_MANY, lambda ctx: ctx.fail("too_many", data=data, recovery={"userMessage": "{item}"}))
        assert "Only 3 of {left} are left." == envelope.message
        assert {"hint": "Order at most 3.", "userMessage": "{item}"} == envelope.recovery

    def test_what_recovery_for_gives_is_filled_from_its_data(self) -> None:
        """Also without a declared reason, and with another one; a text that was changed is no template."""
        data = {"item": "chair", "left": 3}
        filled = {"hint": "Order at most 3.", "userMessage": "chair: {3}"}

        def fail(ctx: Context, **more: Any) -> CodedError:
            looked_up = ctx.recovery_for("too_many")
            assert {"hint": "Order at most {left}.", "userMessage": "{item}: {{{left}}}"} == looked_up["recovery"]
            looked_up["recovery"].update(more)
            return CodedError(CONFLICT, "Too many.", {**data, **copy.deepcopy(looked_up)})

        assert filled == sent(TOO_MANY, fail)[1].recovery
        assert {**filled, "hint": "{left}"} == sent(TOO_MANY, lambda ctx: fail(ctx, hint="{left}"))[1].recovery
        own = sent(TOO_MANY, lambda ctx: ctx.fail("too_many", data={**data, **ctx.recovery_for("too_many")}))
        assert filled == own[1].recovery
        lost = sent(mode(user_message=None), lambda ctx: CodedError(CONFLICT, "No.", ctx.recovery_for("too_many")))
        assert lost[1].recovery is None

    def test_a_guard_and_a_service_fail_with_filled_texts(self) -> None:
        """Neither names a message, so that of the entry is sent."""

        def fail(ctx: Context) -> Any:
            with ctx.guard({KeyError: "too_many"}, data=lambda exc: Stock(item=exc.args[0], left=3)):
                raise KeyError("chair")

        def service(ctx: Context) -> Any:
            return CodedError(CONFLICT, data={"item": "chair", "left": 3}, reason="too_many")

        for failing_part in (fail, service):
            _, envelope = sent(TOO_MANY, failing_part)
            assert ("Only 3 of chair are left.", "Order at most 3.") == (envelope.message, envelope.hint)

    def test_a_secret_in_a_filled_text_is_hidden(self) -> None:
        """A declared text is sent as it is only while it holds no words but the author's."""
        example = mode(when=f"Not {TOKEN}.", recovery=f"Not like {TOKEN}.")
        assert 2 == sent(example, lambda ctx: ctx.fail("too_many", data={"item": "chair", "left": 1}))[0].count(TOKEN)
        for entry in (mode(recovery="Do not order {item}."), mode(recovery="Not {item}.", user_message=None)):
            text, envelope = sent(entry, lambda ctx: ctx.fail("too_many", data={"item": f"chair {TOKEN}", "left": 1}))
            assert "chair [redacted]" in envelope.message
            assert "chair [redacted]" in str(envelope.hint)
            assert TOKEN not in text + repr(envelope)

    def test_filled_texts_are_bounded(self) -> None:
        """The limits are those of any message and hint."""
        entry = mode(recovery="Order {item}.")
        _, envelope = sent(
            entry,
            lambda ctx: ctx.fail("too_many", data={"item": "x" * 100_000, "left": 1}),
            limits=Limits(message=80, hint=60),
        )
        assert (80, 60) == (len(envelope.message), len(str(envelope.hint)))
        assert "cut:" in envelope.message

    def test_the_listing_shows_the_template(self) -> None:
        """A client that reads it has the same contract; its failures are filled alike."""
        listed = ask(Client(Server("shop", tools=[failing(TOO_MANY, None)])), lambda client: client.list_tools()).tools[
            0
        ]
        assert listed.meta is not None
        (entry,) = listed.meta["dev.mcpcore/errors"]
        assert ("Only {left} of {item} are left.", "Order at most {left}.") == (entry["when"], entry["recovery"])
        known = Contract.from_listing(listed)["too_many"]
        assert (TOO_MANY.when, TOO_MANY.recovery) == (known.when, known.recovery)
        error = Context(Contract([known])).fail("too_many", "Own words.", {"item": "chair", "left": 3})
        assert {"hint": "Order at most 3."} == error.recovery

    def test_items_of_a_batch_have_their_own_facts(self) -> None:
        """The recovery of one item is not the advice for all."""

        @tool(errors=[TOO_MANY])
        def order(ctx: Context, left: list[int]) -> BatchResult[str]:
            batch = Batch[str](ctx)
            for number in left:
                with batch.item(number):
                    raise ctx.fail("too_many", data=Stock(item="chair", left=number))
            return batch.result()

        def fail(*left: int) -> Envelope:
            server = Server("shop", tools=[order])
            return envelope_of(ask(Client(server), lambda client: client.call_tool("order", {"left": list(left)})))

        alike, others = fail(3, 3), fail(3, 4)
        assert {"hint": "Order at most 3.", "userMessage": "chair: {3}"} == alike.recovery
        assert "Read `failed` in the data" in str(others.hint)
        hints = [part["error"]["data"]["recovery"]["hint"] for part in others.details["failed"]]
        assert ["Order at most 3.", "Order at most 4."] == hints


class TestInUnitTests:
    def test_a_failure_that_is_raised_directly_has_its_facts(self) -> None:
        """The exception itself says them, also after it was pickled or copied."""
        data = {"item": "chair", "left": 3}
        order = failing(TOO_MANY, lambda _ctx: CodedError(CONFLICT, data=data, reason="too_many"))
        with raises_reason("too_many", data=data) as raised:
            order()
        error: Any = raised.exception
        for same in (error, pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert "Only 3 of chair are left." == str(same) == same.message == same.args[0]
            assert {"hint": "Order at most 3.", "userMessage": "chair: {3}"} == same.recovery
        assert "Order at most 3." == raised.envelope.hint

    @pytest.mark.usefixtures("door")
    def test_assert_fails_compares_filled_texts(self) -> None:
        """The result of a real call and the failure that was raised say the same."""
        order = failing(TOO_MANY, lambda ctx: ctx.fail("too_many", data=Stock(item="chair", left=3)))
        result = ask(Client(Server("shop", tools=[order])), lambda client: client.call_tool("order", {}))
        with raises_reason("too_many") as raised:
            order()
        envelope = assert_fails(result, "too_many", data={"left": 3})
        assert (raised.message, raised.envelope.recovery) == (envelope.message, envelope.recovery)

    def test_data_that_raises_leaves_the_templates_out(self) -> None:
        """A hostile mapping must not hide the failure."""

        class Hostile(dict[str, Any]):
            def items(self) -> Any:
                raise RuntimeError

        error = Context(Contract([TOO_MANY])).fail("too_many", data=Hostile(item="chair"))
        assert (CONFLICT.sentence, None) == (error.message, error.recovery)


class Aliased(BaseModel):
    item: str = Field(serialization_alias="itemName")

    @computed_field
    def length(self) -> int:
        return len(self.item)


@dataclass
class Order:
    lines: list[Any]
    exact: bool | None


class Row(TypedDict):
    row: float


@pytest.mark.parametrize(
    ("data", "value", "text", "shown"),
    [
        (Aliased, Aliased(item="a"), "{itemName}, {length}", "a, 1"),
        (
            Order,
            Order([1, "a\n{exact}", {"b": "ü"}], exact=True),
            "{lines} {exact}",
            '[1,"a\\n{exact}",{"b":"ü"}] true',
        ),
        (Order, {"lines": [], "exact": None}, "{exact}{lines}{exact}", "null[]null"),
        (Row, {"row": 0.5}, "{{{row}}} {{row}} }}{{", "{0.5} {row} }{"),
        (Stock, {"item": "a\nError: \u202e\r{left}{{", "left": 1}, "{item}", "a\\nError: \\u202e\\r{left}{{"),
    ],
)
def test_values_are_shown_as_in_json(data: Any, value: Any, text: str, shown: str) -> None:
    """A string as it is, escaped and in one line; any other value as JSON, by the names and values that are sent."""
    entry = FailureMode("changed", CONFLICT, when=text, recovery="Read it again.", data=data)
    assert shown == Context(Contract([entry])).fail("changed", data=value).message


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"recovery": "Order {lef}."},
            r"recovery has the placeholder {lef}, .* use {item}, {left}, or write {{ and }}",
        ),
        ({"when": "{note}"}, "when has the placeholder {note}, which is not a required field"),
        ({"user_message": "{}"}, "user_message has the placeholder {}"),
        ({"when": "{left.__class__}"}, r"placeholder {left\.__class__}"),
        ({"when": "{item[0]}"}, r"placeholder {item\[0\]}"),
        ({"when": "{left!r}"}, "placeholder {left!r}"),
        ({"when": "{left:>3}"}, "placeholder {left:>3}"),
        ({"when": "{ left}"}, "placeholder { left}"),
        ({"when": "a { b"}, "when has a single '{'; write '{{' for a brace"),
        ({"recovery": "{left}}"}, "recovery has a single '}'; write '}}' for a brace"),
        ({"data": type("Empty", (BaseModel,), {})}, "no field is required, or write {{ and }} for braces"),
        ({"data": int}, "data must be a pydantic model"),
    ],
)
def test_a_wrong_placeholder_is_an_error_at_import(options: dict[str, Any], problem: str) -> None:
    """The message names the file, the entry and the placeholders that there are."""
    with pytest.raises(ContractError, match=rf"test_templates\.py:\d+: FailureMode\('too_many'\): .*{problem}"):
        mode(**options)


def test_only_entries_with_a_model_have_templates() -> None:
    """Without one, braces are the author's own; a text that is still to be written is never sent."""
    plain = mode(data=None, when="{left} {", user_message=None)
    error = Context(Contract([plain])).fail("too_many", data={"left": 3})
    assert ("{left} {", {"hint": "Order at most {left}."}) == (error.message, error.recovery)
    todo = f"{TODO}: say {{how}}"
    error = Context(Contract([mode(when=todo, recovery=todo, user_message=None)])).fail("too_many", data={"left": 3})
    assert (None, CONFLICT.sentence) == (error.recovery, error.message)


@pytest.mark.parametrize(
    "entry",
    [
        {"recovery": 'Send {"left": 1}.'},
        {"recovery": "Order {lef}."},
        {"dataSchema": {"required": "left"}},
        {"dataSchema": {"required": [7, None]}},
        {"dataSchema": {}},
        {"dataSchema": None},
    ],
)
def test_braces_of_another_program_are_read_as_they_are(entry: dict[str, Any]) -> None:
    """A listing whose texts do not fit its schema has no templates."""
    (own,) = Contract([TOO_MANY]).to_json()
    assert isinstance(own, dict)
    known = Contract.from_listing({"_meta": {"dev.mcpcore/errors": [{**own, **entry}]}})["too_many"]
    error = Context(Contract([known])).fail("too_many", data={"item": "chair", "left": 3})
    assert ("Only {left} of {item} are left.", {"hint": known.recovery}) == (error.message, error.recovery)


def test_a_changed_template_is_a_changed_text() -> None:
    """The catalog has the template, and two catalogs differ where it does."""
    old, new = (
        catalog(item(failure(**entry.to_json())))  # type: ignore[arg-type]
        for entry in (TOO_MANY, mode(when="{left} of {item} are left.", recovery="Order {left} at most."))
    )
    changes = compare(old, new)
    assert {"when-reworded", "recovery-reworded"} == {change.rule for change in changes}
    assert {"Order at most {left}.", TOO_MANY.when} == {change.old for change in changes}


HOSTILE = st.text(st.sampled_from("{}left item\n\r\t\u2028\u202eError:Recovery()·")) | st.text()


@given(HOSTILE, HOSTILE)
def test_no_value_forges_a_line_or_is_read_as_a_template(thing: str, note: str) -> None:
    """Whatever strings the data holds, the text has the lines of its declaration and reads back as it was sent."""

    class Pair(BaseModel):
        item: str
        note: str

    entry = FailureMode("too_many", CONFLICT, when="No '{item}'.", recovery="Not '{note}' or '{item}'.", data=Pair)
    error = Context(Contract([entry])).fail("too_many", data={"item": thing, "note": note})
    assert f"No '{one_line(thing)}'." == error.message
    with raises_reason("too_many") as raised:
        raise error
    envelope = raised.envelope
    assert f"Not '{one_line(note)}' or '{one_line(thing)}'."[:400] == str(envelope.hint)[:400]
    text = envelope.text()
    assert 4 == len(text.split("\n\n"))
    assert 7 == len(text.split("\n"))
    fields = read(text)
    assert fields is not None
    assert (envelope.message, envelope.hint) == (fields.message, fields.hint)
