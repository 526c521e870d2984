"""The options that several commands share."""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from mcpcore.cli.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_Command = TypeVar("_Command", bound="Callable[..., Any]")

ERAS: Final = ("auto", "modern", "handshake")
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE: Final = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_]\w*)\}")
_OF_THE_PROTOCOL: Final = frozenset({"accept", "connection", "content-length", "content-type", "transfer-encoding"})


def timeout_option(seconds: float, help_text: str) -> Callable[[_Command], _Command]:
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
    help="The era of the protocol: 2026-07-28, the older handshake, or the one that the server offers.",
)

static_option = click.option("--static", is_flag=True, help="Read Python files and import none of them.")

verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Show the standard error of a server that is started."
)


def output_option(help_text: str = "Write to FILE, whole or not at all.") -> Callable[[_Command], _Command]:
    """`-o FILE`, as `path`."""
    return click.option("-o", "--output", "path", type=click.Path(dir_okay=False), metavar="FILE", help=help_text)


header_option = click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    callback=lambda _context, _parameter, values: parse_headers(values),
    help="Send this header to a URL; can be repeated. ${NAME} in the value is a variable of the environment, which "
    "keeps a secret off the command line: --header 'Authorization: Bearer ${TOKEN}'.",
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
