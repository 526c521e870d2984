"""Forged trails that no writer could produce are reported as problems and never crash the command."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from mcpcore.audit import AuditError, verify
from mcpcore.audit.chain import GENESIS, Signer
from tests.audit.conftest import written

JUNK = (
    b'\x00\xff\xfe\n[1]\n"x"\n' + b"[" * 100_000 + b"\n" + b'{"event":' + b"[" * 100_000 + b"\n"
    b'{"seq":9,"name":[1],"code":{},"timestamp":5,"tool":{},"reason":[2],"correlationId":{},"exception":[]}\n'
)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mcpcore", "audit", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def junk(path):
    written(path, 1)
    with path.open("ab") as file:
        file.write(JUNK)
    return path


def test_invalid_lines_are_reported_as_inserted(junk):
    """These are random bytes, bare values, deeply nested JSON, and fields of the wrong type."""
    done = run("verify", junk)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count(": inserted") == JUNK.count(b"\n")


@pytest.mark.parametrize("command", ["show", "tail", "stats"])
@pytest.mark.parametrize("option", [("--tool", "fetch_articles"), ("--reason", "no_match"), ("--code", "NOT_FOUND")])
def test_a_filter_ignores_fields_of_the_wrong_type(junk, command, option):
    """Matching records are shown, whatever else is in the file."""
    done = run(command, junk, *option)
    assert (done.returncode, done.stderr) == (0, "")
    assert "fetch_articles" in done.stdout


def test_a_signed_trail_recomputed_without_the_key_is_rejected(path):
    """Its head is still signed, so verification without the key fails and asks for the key."""
    written(path, *range(3), key="k" * 32)
    signer, prev, lines = Signer(None), GENESIS, []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        record = {key: item for key, item in json.loads(line).items() if key not in ("seq", "prev", "alg", "hash")}
        sealed, prev = signer.seal(number, prev, json.dumps({**record, "message": "another"}, separators=(",", ":")))
        lines.append(sealed)
    path.write_bytes(b"".join(lines))
    with pytest.raises(AuditError, match="signed with the key"):
        verify(path)
    assert not verify(path, key="k" * 32).ok
    assert run("verify", path).returncode == 2
