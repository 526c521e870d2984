"""Runs `mcpcore audit` commands, one after the other, in a separate process.

The engine keeps hundreds of megabytes and its threads until the process ends, so the test processes do not load it.
Each line of the input is a JSON list of arguments; each line of the output is the answer.
"""

from __future__ import annotations

import contextlib
import json
import sys
from functools import partial
from pathlib import Path

from click.testing import CliRunner

from mcpcore.cli.audit import _query as make_query, group
from mcpcore.cli.audit_source import FileSource, StoreSource
from mcpcore.fleet import queries


def query(folder: str, sql: str) -> list[list[object]]:
    """The rows of any SQL in an embedded store, with the engine alone."""
    from chdb.session import Session

    with Session(folder) as session:
        return [json.loads(line) for line in session.query(sql, "JSONCompactEachRow").bytes().splitlines()]


def answers(place: str, filters: list[list[str]]) -> list[object]:
    """What `show`, `tail -n 5` and `stats` find in a file or a store, for each list of options."""
    show = group.commands["show"]
    results: list[object] = []
    with contextlib.ExitStack() as stack:
        if Path(place).is_file():
            source: object = FileSource(Path(place))
            read, last, count = source.read, source.last, source.count
        else:
            store = stack.enter_context(StoreSource(place).open())
            read, last, count = (
                partial(queries.read, store),
                partial(queries.last, store),
                partial(queries.count, store),
            )
        for options in filters:
            params = show.make_context("show", [*options, "x"]).params
            query = make_query(**{key: params[key] for key in params if key not in {"path", "store", "as_json"}})
            results.append([list(read(query)), last(query, 5), count(query).to_json()])
    return results


def main() -> None:
    for line in sys.stdin:
        arguments, env = json.loads(line)
        if arguments[0] == "sql":
            answer = {"exit": 0, "out": query(*arguments[1:]), "err": ""}
        elif arguments[0] == "answers":
            answer = {"exit": 0, "out": answers(*arguments[1:]), "err": ""}
        else:
            result = CliRunner().invoke(group, arguments, env=env)
            error = (
                "" if result.exception is None or isinstance(result.exception, SystemExit) else repr(result.exception)
            )
            answer = {"exit": result.exit_code, "out": result.stdout, "err": result.stderr + error}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
