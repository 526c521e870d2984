"""The reference page of the command line, from the commands themselves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from mcpcore.cli.root import PROGRAM, cli
from pages.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterator


def contexts() -> Iterator[click.Context]:
    """A context for every command, those of groups included."""
    yield from _below(click.Context(cli, info_name=PROGRAM, **cli.context_settings))


def _below(ctx: click.Context) -> Iterator[click.Context]:
    yield ctx
    if isinstance(ctx.command, click.Group):
        for name in ctx.command.list_commands(ctx):
            child = ctx.command.get_command(ctx, name)
            if child is not None and not child.hidden:
                yield from _below(click.Context(child, info_name=name, parent=ctx, **child.context_settings))


def page() -> str:
    """The page."""
    parts = ["# Commands", "", "## Exit codes", "", table(["command", "exit codes"], _exit_codes()), ""]
    for ctx in contexts():
        command, path = ctx.command, _path(ctx)
        usage = " ".join([path, *command.collect_usage_pieces(ctx)])
        parts += [f"## `{path}`", "", "```text", usage, "```", "", _paragraphs(command.help or ""), ""]
        if isinstance(command, click.Group):
            children = [(name, command.get_command(ctx, name)) for name in command.list_commands(ctx)]
            rows: list[list[object]] = [
                [
                    f"[`{path} {name}`](#{path}-{name})".replace(f"#{path}", f"#{path.replace(' ', '-')}"),
                    child.get_short_help_str(200),
                ]
                for name, child in children
                if child
            ]
            parts += [table(["command", "meaning"], rows), ""]
        records = [record for option in command.get_params(ctx) if (record := option.get_help_record(ctx)) is not None]
        described: list[list[object]] = [[f"`{names}`", _text(meaning)] for names, meaning in records if meaning]
        if described:
            parts += [table(["option", "meaning"], described), ""]
        if command.epilog:
            parts += [_epilog(command.epilog), ""]
    return "\n".join(parts)


def _path(ctx: click.Context) -> str:
    return ctx.command_path.partition(" [")[0]


def _exit_codes() -> list[list[object]]:
    """The exit codes of each command whose help has them."""
    rows: list[list[object]] = []
    for ctx in contexts():
        words = " ".join(f"{ctx.command.help or ''} {ctx.command.epilog or ''}".split())
        if found := re.search(r"(?:Exit codes:|Exits) (0[^.]+)(?:\.|$)", words):
            rows.append([f"`{_path(ctx)}`", _text(found[1].replace(", 1 ", "; 1 ").replace(", 2 ", "; 2 "))])
    return rows


def _paragraphs(text: str) -> str:
    """The help of a command, without the marks of click."""
    return "\n\n".join(_text(" ".join(part.split())) for part in text.replace("\b", "").split("\n\n"))


def _text(text: str) -> str:
    """A sentence in which no angle bracket, star or underscore outside code is Markdown."""
    parts = text.split("`")
    return "`".join(
        re.sub(r"[*_<]", r"\\\g<0>", part) if number % 2 == 0 else part for number, part in enumerate(parts)
    )


def _epilog(text: str) -> str:
    """Examples and exit codes: indented lines are a code block, the others are sentences."""
    parts: list[str] = []
    code: list[str] = []
    for line in [*text.replace("\b", "").splitlines(), ""]:
        if line.startswith("  "):
            code.append(line.removeprefix("  "))
            continue
        if code:
            parts += ["", "```text", *code, "```", ""]
            code = []
        parts.append(_text(line.strip()))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).strip("\n")
