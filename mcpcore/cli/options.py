"""The options that several commands share, and the words after `--`."""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click

from mcpcore.cli.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from click.shell_completion import CompletionItem


_KEY: Final = f"{__name__}.after_dashes"


class SplitCommand(click.Command):
    """A command that parses only the words before the first `--`; click itself would not tell where it was."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words after `--`, then parse the rest."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_KEY] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usage line, with the words after `--`."""
        return [*super().collect_usage_pieces(ctx), "[-- ARGUMENT...]"]


class ToolCommand(SplitCommand):
    """A command that calls a tool: unknown options may be meant as arguments of the tool."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; an unknown option is an error that says how arguments are written."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as exc:
            import difflib

            # `--number RX-1` is what people try for an argument of the tool.
            if not difflib.get_close_matches(exc.option_name, exc.possibilities or (), cutoff=0.75):
                raise click.NoSuchOption(
                    exc.option_name,
                    f"{exc.message} An argument of the tool is written {exc.option_name.lstrip('-')}=VALUE.",
                    ctx=exc.ctx,
                ) from exc
            raise


def after_dashes(ctx: click.Context) -> tuple[str, ...] | None:
    """The words after `--`, or None without a `--`."""
    return cast("tuple[str, ...] | None", ctx.meta.get(_KEY))


def complete_files(_ctx: click.Context, _parameter: click.Parameter, _incomplete: str) -> list[CompletionItem]:
    """Let the shell complete file names."""
    from click.shell_completion import CompletionItem

    return [CompletionItem("", type="file")]


CommandT = TypeVar("CommandT", bound="Callable[..., Any]")

ERAS: Final = ("auto", "modern", "handshake")
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# Servers read only printable ASCII alike, and a line break would begin another header.
_VALUE: Final = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_]\w*)\}")
_OF_THE_PROTOCOL: Final = frozenset({"accept", "connection", "content-length", "content-type", "transfer-encoding"})


def timeout_option(seconds: float, help_text: str) -> Callable[[CommandT], CommandT]:
    """`--timeout SECONDS`, more than zero."""
    return click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=seconds,
        show_default=True,
        metavar="SECONDS",
        help=help_text,
    )


era_option = click.option(
    "--era",
    type=click.Choice(ERAS),
    default="auto",
    show_default=True,
    help="The protocol: modern is 2026-07-28, handshake is the older one, and auto is the one that the server offers.",
)

static_option = click.option("--static", is_flag=True, help="Read Python files without importing them.")

verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Show the standard error of a server that this command starts."
)


output_option = click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write to FILE, whole or not at all.",
)

header_option = click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    callback=lambda _context, _parameter, values: parse_headers(values),
    help="Send this header to a URL; can be repeated. ${NAME} in the value is an environment variable, which keeps a "
    "secret off the command line: --header 'Authorization: Bearer ${TOKEN}'.",
)


def parse_headers(words: Sequence[str]) -> dict[str, str]:
    """The headers by their names, with the variables of the environment.

    Raises:
        Problem: If one cannot be sent. No message quotes a value, which may be a secret.
    """
    headers: dict[str, str] = {}
    for word in words:
        name, colon, value = word.partition(":")
        name = name.strip()
        if not colon or not _NAME.fullmatch(name):
            raise Problem("--header takes a name, a colon and a value.", hint="such as --header 'X-Api-Key: ${KEY}'")
        if name.lower() in _OF_THE_PROTOCOL or name.lower().startswith("mcp-"):
            raise Problem(f"--header {name}: the protocol itself sends this header.", hint="leave it out")
        value = _VARIABLE.sub(partial(_variable, name), value).strip()
        if not _VALUE.fullmatch(value):
            raise Problem(
                f"--header {name}: the value must be one line of ASCII characters, and not empty.",
                hint="check the value, or the variable that holds it",
            )
        headers[name] = value
    return headers


def _variable(header: str, match: re.Match[str]) -> str:
    value = os.environ.get(match[1])
    if value is None:
        raise Problem(f"--header {header}: the variable {match[1]} is not set.", hint=f"set it: export {match[1]}=...")
    return value


def require_url(headers: Mapping[str, str], *, has_url: bool) -> None:
    """Refuse headers that nothing would send.

    Raises:
        Problem: If there are headers and no URL.
    """
    if headers and not has_url:
        raise Problem("--header is for a server behind a URL.", hint="leave it out, or name the URL of the server")
