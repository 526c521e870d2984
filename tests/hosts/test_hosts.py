"""What real agent hosts put before their models when a tool fails.

`make hosts` installs the hosts and runs these tests. Each host runs once, against a scripted model on loopback, and what it
put before its model is written into `results`, from which `docs/generate.py` makes the page "What reaches the model".
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcpcore.sdk.definition import admitting_error
from mcpcore.wire.dialects.canonical import ERROR_SCHEMA
from tests.answers import ask
from tests.hosts.hosts import HERE, HOSTS, RESULTS, Host, python, run, texts, values, write
from tests.hosts.model import Call, scripted
from tests.hosts.servers import SECRET
from tests.hosts.shapes import FOUND, LOST, PLACE
from tests.reach.drivers import NODE, normal

pytestmark = [pytest.mark.hosts, pytest.mark.no_server]

OVERLAY = """\
version = 1

[[tools.open_locker]]
reason = "locker_jammed"
code = "CONFLICT"
when = "The locker is jammed."
recovery = "Offer the customer another locker."
effects = "none"
match = {text = "is jammed"}
"""


class Case(NamedTuple):
    """A call that fails, and what the model has to learn of it."""

    call: Call
    message: str
    effects: str
    reason: str | None = None
    recovery: str | None = None


CASES = {
    "declared": Case(
        Call("book_pickup", {"day": "Monday"}),
        message="The van of Monday is full.",
        reason="van_full",
        recovery="Call list_days for a day with free slots, and book that day.",
        effects="none",
    ),
    "retryable": Case(
        Call("track_parcel", {"number": "RX-9"}),
        message="The depot cannot look up RX-9 now.",
        reason="depot_busy",
        recovery="Track the parcel again when the depot has time.",
        effects="none",
    ),
    "unknown": Case(
        Call("refund_parcel", {"number": "RX-9"}),
        message="The desk did not confirm the refund of RX-9.",
        reason="desk_silent",
        recovery="Track the parcel to see whether the refund was made.",
        effects="unknown",
    ),
    "arguments": Case(
        Call("track_parcel", {"number": "9"}),
        message="number: Value error, it must begin with RX-",
        reason="invalid_arguments",
        recovery="'number'",
        effects="none",
    ),
    "wrong-type": Case(
        Call("track_parcel", {"number": 9}),
        message="number: Input should be a valid string",
        reason="invalid_arguments",
        recovery="Send 'number' as a string (The number on the parcel).",
        effects="none",
    ),
    "crash": Case(
        Call("weigh_parcel", {"number": "RX-9"}),
        message="The tool failed unexpectedly.",
        effects="unknown",
    ),
    "batch": Case(
        Call("send_parcels", {"numbers": ["RX-1", "RX-2"]}),
        message="RX-2 has no label.",
        reason="no_label",
        recovery="Print its label before you send it.",
        effects="none",
    ),
    "foreign": Case(
        Call("open_locker", {"number": "4"}),
        message="Locker 4 is jammed",
        reason="locker_jammed",
        recovery="Offer the customer another locker.",
        effects="none",
    ),
}
_PROPERTIES: Final = {"number": {"type": "string"}, "place": {"type": "string"}}
_RESULT: Final[dict[str, Any]] = {"type": "object", "properties": _PROPERTIES, "required": ["number", "place"]}
_FAILURE: Final[dict[str, Any]] = {"type": "object", "properties": {"error": ERROR_SCHEMA}, "required": ["error"]}

SHAPES: Final[dict[str, dict[str, Any]]] = {
    "sent": admitting_error(_RESULT),
    "optional": {"type": "object", "properties": {**_PROPERTIES, "error": ERROR_SCHEMA}},
    "untyped": {"anyOf": [_RESULT, _FAILURE]},
    "refusing": _RESULT,
}
"""Output schemas of one result: as mcpcore sends it, with optional properties, without a type at the root, without the failure."""

EFFECTS = {"none": "nothing was changed", "unknown": "it may have taken effect"}
"""What a text says of them."""

CALLS = [case.call for case in CASES.values()]
CALLS += [Call(f"find_{shape}", {"lost": lost}) for shape in SHAPES for lost in (False, True)]

_CLOSING = re.compile(r"\((?:reason \S+ · )?[A-Z_]+ · (.+) · id [0-9a-f]{16}\)$")


def keys(value: object) -> Iterable[str]:
    """The keys of an object of JSON."""
    return value if isinstance(value, dict) else ()


class Answer(NamedTuple):
    """The answer of a server, as a client of the SDK gets it."""

    text: str
    structured: dict[str, Any]

    def facts(self, case: Case) -> dict[str, str | None]:
        """The facts that the model has to learn, each in the words of a text; None for a fact that the failure does not have."""
        facts = {"message": case.message, "reason": case.reason, "recovery": case.recovery, "advice": self.advice}
        return {**facts, "effects": EFFECTS[case.effects]}

    @property
    def advice_in_json(self) -> str | None:
        """The phrase of the structured error."""
        return next((value["advice"] for value in values(self.structured) if "advice" in keys(value)), None)

    @property
    def advice(self) -> str | None:
        """The phrase of the structured error, or else of the text's last line."""
        closing = _CLOSING.search(self.text)
        return self.advice_in_json or (closing and closing[1])


class Arrival(NamedTuple):
    """What a host shows of an answer."""

    forms: list[str]
    facts: list[str]
    shown: str

    @classmethod
    def of(cls, shown: str, case: Case, answer: Answer) -> Arrival:
        """The forms of the answer that are in `shown`, and the facts that are."""
        read = texts(shown)
        forms = {
            "text": any(answer.text in text for text in read),
            "JSON": answer.structured in values(shown, beside=answer.text),
        }
        facts = [fact for fact, words in answer.facts(case).items() if words and any(words in text for text in read)]
        effects = [value["effects"] for value in values(shown) if "effects" in keys(value)]
        if "effects" not in facts and case.effects in effects:
            facts.append("effects")
        return cls([form for form, is_there in forms.items() if is_there], facts, shown)


def answers(servers: dict[str, list[str]]) -> dict[str, Answer]:
    """What the servers answer to the calls of `CASES`, without a host."""
    results: dict[str, Answer] = {}

    async def call_all(client: Client) -> None:
        offered = {tool.name for tool in (await client.list_tools()).tools}
        for name, case in CASES.items():
            if case.call.tool in offered:
                result = await client.call_tool(case.call.tool, case.call.arguments)
                structured = json.loads(normal(json.dumps(result.structured_content)))
                results[name] = Answer(normal(result.content[0].text), structured)

    for name in ("parcels", "lockers"):
        command, *arguments = servers[name]
        ask(Client(stdio_client(StdioServerParameters(command=command, args=arguments))), call_all)
    return results


def outcome(success: str | None, failure: str | None) -> str:
    """What a client makes of a tool with an output schema, by what it shows of its answers; None if it has no such tool."""
    if success is None or failure is None:
        return "no tools"
    arrived = {
        "success": any(word in text for word in (FOUND, PLACE) for text in texts(success)),
        "failure": any(LOST in text for text in texts(failure)),
    }
    lost = [name for name, is_there in arrived.items() if not is_there]
    return f"no {' and no '.join(lost)}" if lost else "accepted"


def shape_servers() -> dict[str, list[str]]:
    """The command of the server for each shape of an output schema."""
    return {shape: python(str(HERE / "shapes.py"), shape, json.dumps(schema)) for shape, schema in SHAPES.items()}


def record(name: str, result: object) -> None:
    """Write what reached the model, for the page."""
    write(RESULTS / f"{name}.json", json.dumps(result, indent=1, ensure_ascii=False) + "\n")


def stable(shown: str) -> str:
    """`shown` without what is new in each call."""
    return re.sub(r"(?<=Wall time: )[0-9.]+", "0.0", normal(shown))


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_failures_reach_the_model_of_a_host(host: Host, tmp_path: Path) -> None:
    """Message, reason, recovery, advice and effects of each failure are in the request that reaches the model."""
    if not host.installed:
        pytest.skip(
            f"{host.name} is not installed: no package of it for this platform is locked, or npm could not install it"
        )
    overlay = tmp_path / "lockers.toml"
    overlay.write_text(OVERLAY, encoding="utf-8")
    program = str(HERE / "servers.py")
    servers = {
        "parcels": python(program, "parcels"),
        "lockers": python("-m", "mcpcore", "proxy", "--overlay", str(overlay), "--", *python(program, "lockers")),
        **shape_servers(),
    }
    direct = answers(servers)
    with scripted(CALLS) as model:
        printed = run(host, tmp_path, servers, model.url)
    shown = {position: stable(text) for position, text in model.shown.items()}
    assert set(range(len(CASES))) <= set(shown), f"{host.name} did not offer every tool:\n{printed}"
    arrivals = {
        name: Arrival.of(shown[position], case, direct[name]) for position, (name, case) in enumerate(CASES.items())
    }
    expected = {name: [f for f, words in direct[name].facts(case).items() if words] for name, case in CASES.items()}
    if host.checks_arguments:
        # It refuses the call itself, so the server never hears of it.
        assert "params/number must be string" == arrivals["wrong-type"].shown
        expected["wrong-type"] = []
    assert expected == {name: arrival.facts for name, arrival in arrivals.items()}, arrivals
    assert all(arrival.forms for name, arrival in arrivals.items() if expected[name]), arrivals
    assert not any(SECRET in text for text in shown.values())
    shapes = {
        shape: outcome(*(shown.get(CALLS.index(Call(f"find_{shape}", {"lost": lost}))) for lost in (False, True)))
        for shape in SHAPES
    }
    assert ("accepted", "accepted") == (shapes["sent"], shapes["optional"])
    record(host.name, {"cases": {name: arrival._asdict() for name, arrival in arrivals.items()}, "shapes": shapes})


def test_at_least_two_hosts_run() -> None:
    """The test above skips a host that is not installed; it may skip only one of them."""
    installed = [host.name for host in HOSTS if host.installed]
    assert len(installed) >= 2, f"Only {installed or 'no host'} is installed. Run `make hosts`."


def test_the_typescript_sdks_accept_the_output_schemas() -> None:
    """A schema whose root is an object loses neither the tool nor a success nor a failure."""
    program = HERE.parent / "reach" / "clients" / "output_schemas.mjs"
    done = subprocess.run(
        [NODE, program, json.dumps(shape_servers())], capture_output=True, text=True, check=False, timeout=60
    )
    assert 0 == done.returncode, done.stderr
    clients = {
        client: {shape: outcome(*shown) for shape, shown in by_shape.items()}
        for client, by_shape in json.loads(done.stdout).items()
    }
    for shapes in clients.values():
        assert ("accepted", "accepted") == (shapes["sent"], shapes["optional"])
    record("TypeScript SDKs", clients)
