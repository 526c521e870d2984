"""`mcpcore call --follow`: the advice of failures is followed, and each step is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ADVICE = str(Path(__file__).parent / "servers" / "advice.py")
SERVER = f"{ADVICE}:app"


def steps(done):
    """Return the kinds of the steps on standard error, and the text of all of them."""
    return re.findall(r"^ *\d+\.\d s  #\d+ ([a-z ]+?)  ", done.stderr, re.MULTILINE), done.stderr


def test_a_retry_and_a_fallback_are_made_and_shown(call):
    """The result is that of the fallback; the steps are on standard error."""
    done = call("--follow", SERVER, "get", "item=apple")
    assert 0 == done.exit_code, done.stderr
    assert done.stdout.startswith("get_old succeeded (isError: false)\n")
    kinds, text = steps(done)
    assert ["called", "failed", "waited", "retried", "failed", "fell back", "succeeded"] == kinds
    assert "The contract names get_old as the fallback." in text


def test_without_the_option_the_tool_is_called_once(call):
    """The failure is printed as it was received."""
    done = call(SERVER, "get", "item=apple")
    assert 1 == done.exit_code
    assert "(reason busy" in done.stdout
    assert ([], "") == steps(done)


def test_the_last_failure_is_printed(call):
    """A failure that advises nothing ends the call; `--json` prints the result alone."""
    done = call("--follow", "--json", SERVER, "get_old")
    assert 1 == done.exit_code, done.stderr
    assert "invalid_arguments" == json.loads(done.stdout)["structuredContent"]["error"]["data"]["reason"]
    assert ["called", "failed", "gave up"] == steps(done)[0]


def test_a_protocol_error_is_printed_as_one(call):
    """An unknown tool is refused by the protocol, and the nearest name is suggested as ever."""
    done = call("--follow", SERVER, "get_odl")
    assert 1 == done.exit_code
    assert done.stdout.startswith("protocol error -32602")
    assert ["called", "failed", "gave up"] == steps(done)[0]
    assert "get_old" in done.stdout + done.stderr


@pytest.mark.slow
def test_a_tool_that_never_answers_is_left(call):
    """The timeout holds for all calls together."""
    done = call("--follow", "--timeout", "5", SERVER, "hang")
    assert 1 == done.exit_code
    assert "hang did not answer within 5 s." in done.stderr
