"""Servers whose failures go to OpenTelemetry, exported as OTLP JSON: `emitting.py FOLDER VERSION NAME…`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from pathlib import Path
from typing import Literal

from mcp import Client
from opentelemetry import _logs
from opentelemetry.exporter.otlp.json.file._log_exporter import FileLogExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource

from mcpcore import Context, ErrorCode, FailureMode, Server, tool


@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="No article.", recovery="Search first.")])
async def fetch(ctx: Context[Literal["no_match"]], number: int) -> str:
    """Fetch an article."""
    raise ctx.fail("no_match", f"No article {number}.", data={"é": "☃"})


async def main(folder: Path, names: list[str]) -> None:
    async with contextlib.AsyncExitStack() as stack:
        clients = []
        for name in names:
            server = Server(name, tools=[fetch], audit=None if name == "none" else folder / f"{name}.jsonl")
            clients.append(await stack.enter_async_context(Client(server)))
        for number in range(4):
            for client in clients:
                await client.call_tool("fetch", {"number": number})
    _logs.get_logger("another.program").emit(body="unrelated")


if __name__ == "__main__":
    logging.disable()
    where, version, *servers = sys.argv[1:]
    provider = LoggerProvider(resource=Resource({"service.name": "articles", "service.version": version}))
    exporter = FileLogExporter(Path(where) / f"{version}.otlp.json")
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    _logs.set_logger_provider(provider)
    asyncio.run(main(Path(where), servers))
    provider.shutdown()
