"""Trails with hostile records, stores that hold them, and a server in front of the real engine."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mcpcore.audit import AuditTrail
from tests.audit.conftest import START, stamp

HERE = Path(__file__).parent
PASSWORD = "s:e/c@r#t"
HOSTILE = "é\ud800'\\\"\n`{tool:String}`;DROP TABLE x--\x00\t%s"


@dataclass
class Result:
    exit: int
    out: Any
    err: str


class Commands:
    """Runs commands in a process that keeps the engine loaded."""

    def __init__(self) -> None:
        command = [sys.executable, str(HERE / "commands.py")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, *arguments: object, status: int = 0, env: dict[str, str] | None = None) -> Result:
        self.process.stdin.write(json.dumps([[*arguments], env or {}], default=str) + "\n")
        self.process.stdin.flush()
        result = Result(**json.loads(self.process.stdout.readline()))
        assert result.exit == status, (result.out, result.err)
        return result


@pytest.fixture(scope="session")
def run():
    commands = Commands()
    with commands.process:
        yield commands


@dataclass
class Front:
    port: int
    folder: Path

    def url(self, table: str = "failures", password: str = "s%3Ae%2Fc%40r%23t", database: str = "default") -> str:
        return f"clickhouse://loader:{password}@127.0.0.1:{self.port}/{database}?table={table}&secure=0"


@pytest.fixture(scope="session")
def front(tmp_path_factory):
    folder = tmp_path_factory.mktemp("front") / "data"
    command = [sys.executable, str(HERE / "front.py"), str(folder), "loader", PASSWORD]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield Front(int(process.stdout.readline()), folder)
        process.kill()


def write_trail(path: Path, count: int = 120, *, seed: int = 1, **options: Any) -> Path:
    """A trail in several files: times out of order, forged values, broken contracts, refused requests, a lost record."""
    choose = random.Random(seed)
    with AuditTrail.open(path, sinks=(), max_bytes=12_000, **options) as trail:
        for number in range(count):
            name, code = choose.choice([("NOT_FOUND", -32001), ("TIMEOUT", -32008), (None, None)])
            record: dict[str, Any] = {
                "timestamp": stamp(START + timedelta(minutes=choose.randrange(5_000), milliseconds=number)),
                "server": f"articles{seed}",
                "tool": choose.choice(["fetch", "save", HOSTILE]),
                "surface": "tool",
                "code": code,
                "name": name,
                "reason": choose.choice(["no_match", "queue_full", None, "it's", 5]),
                "message": HOSTILE,
                "correlationId": f"{seed:02x}{number:014x}",
            }
            if number % 7 == 0:
                kinds = choose.choice([["lost"], ["data", "wrong_code"], 5])
                record |= {"broken_contract": "broken", "broken_contract_kinds": kinds, "count": 3}
            if number % 14 == 0:
                record["outcome"] = "lost"
            if number % 11 == 0:
                del record["tool"]
                record |= {"resource": f"file:///{number}"}
            if number % 13 == 0:
                record.pop("tool", None)
                record.pop("resource", None)
                record |= {"http": "POST /mcp", "outcome": "refused", "count": choose.choice([1, 40, -1, 10**30])}
            if number % 17 == 0:
                record["timestamp"] = choose.choice(["never", "2026-11-21T10:00:00+02:00", "1969-12-31T23:59:58.500Z"])
            record = {key: value for key, value in record.items() if value is not None}
            trail.record(record)
    return path


@pytest.fixture(scope="session")
def trail(tmp_path_factory):
    return write_trail(tmp_path_factory.mktemp("trail") / "audit.jsonl")


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    for name in ("MCPCORE_AUDIT", "MCPCORE_AUDIT_KEY", "MCPCORE_STORE_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
