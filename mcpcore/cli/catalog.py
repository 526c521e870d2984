"""`mcpcore catalog`: what servers can fail with, as Markdown, JSON, HTML or Python."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mcpcore.cli import output
from mcpcore.cli.options import (
    SplitCommand,
    after_dashes,
    complete_files,
    header_option,
    output_option,
    require_url,
    static_option,
    timeout_option,
    verbose_option,
)
from mcpcore.cli.problems import INTERRUPTED, Problem, replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpcore.catalog import Catalog

FORMATS: Final = ("md", "json", "html", "python")
_SUFFIXES: Final = {".md": "md", ".markdown": "md", ".json": "json", ".html": "html", ".htm": "html", ".py": "python"}


@click.command(
    cls=SplitCommand,
    options_metavar="[OPTIONS]",
    epilog="""\b
  mcpcore catalog server.py                                Markdown, on standard output
  mcpcore catalog server.py --output contracts.lock.json   the lock file for `mcpcore diff --check`
  mcpcore catalog server.py -o failures.html               a page to search and link to
  mcpcore catalog src/ --static -o failures.md             read the code without running it
  mcpcore catalog -- npx some-server                       a server in any language
  mcpcore catalog --url http://127.0.0.1:8000/mcp --format python -o failures.py
  mcpcore catalog contracts.lock.json --format html        from a lock file
  mcpcore catalog server.py -o failures.html --server-json server.json --address https://example.com/failures.html

\b
SERVER is a file or a module, with or without an object (server.py:app), which is imported but not
started; a folder, whose code is only read; a URL; a catalog in JSON; or REV:PATH, a file or a
folder in a git revision, whose code is only read. After `--` comes the command of a server; or, if
the last SERVER is imported, the arguments of the server.

\b
Exit codes: 0 the catalog was written, 2 it could not be made.""",
)
@click.argument("words", nargs=-1, metavar="[SERVER...]", shell_complete=complete_files)
@click.option(
    "--format", "shape", type=click.Choice(FORMATS), help="The format; the default is that of the output file, or md."
)
@output_option
@click.option(
    "--server-json",
    "manifest",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Also write the address of the catalog to this server.json of the MCP registry; needs --address.",
)
@click.option("--address", metavar="URL", help="Where the catalog will be published; for --server-json.")
@click.option("--url", "urls", multiple=True, metavar="URL", help="A running server; can be repeated.")
@static_option
@timeout_option(60.0, "How long a running server may take to start and to list what it has.")
@verbose_option
@header_option
@click.pass_context
def catalog(
    ctx: click.Context,
    words: tuple[str, ...],
    *,
    shape: str | None,
    path: str | None,
    manifest: str | None,
    address: str | None,
    urls: tuple[str, ...],
    static: bool,
    timeout: float,
    verbose: bool,
    headers: dict[str, str],
) -> None:
    """List every way the tools, resources and prompts of servers can fail.

    Each failure mode comes with its code, its recovery, its retry advice, its effects, the schema and an example of its
    data, and where the source raises it.
    """
    from mcpcore.catalog import CatalogError, render

    addressed = _addressed(manifest, address)
    made = make_catalog(ctx, words, urls, static=static, timeout=timeout, verbose=verbose, headers=headers)
    if shape is None:
        shape = _SUFFIXES.get(Path(path).suffix.lower(), "md") if path is not None else "md"
    try:
        text = render(made, shape)
    except CatalogError as exc:
        raise Problem(f"{exc}.") from exc
    if path is None or path == "-":
        output.text(text.removesuffix("\n"))
    else:
        _require_own(Path(path))
        replace_file(Path(path), text)
    if manifest is not None and addressed is not None:
        replace_file(Path(manifest), addressed)
    warn(made)


def _addressed(manifest: str | None, address: str | None) -> str | None:
    """The text of a server.json with the address of the catalog, before anything is written.

    Raises:
        Problem: If one of the two is missing, or cannot be used.
    """
    from mcpcore.catalog import CatalogError
    from mcpcore.catalog.server_json import with_address

    if manifest is None or address is None:
        if manifest is None and address is None:
            return None
        missing = "--address" if address is None else "--server-json"
        raise Problem(
            f"--server-json and --address belong together, and {missing} is missing.",
            hint="write --server-json server.json --address https://example.com/failures.html",
        )
    try:
        # Bytes, since reading as text would turn the line ends of Windows into others.
        return with_address(Path(manifest).read_bytes().decode(), address)
    except OSError as exc:
        raise Problem(
            f"{manifest} cannot be read: {exc.strerror or exc}.", hint="make it first: mcp-publisher init"
        ) from exc
    except (CatalogError, UnicodeDecodeError) as exc:
        raise Problem(f"{manifest}: {exc}.") from exc


def _require_own(path: Path) -> None:
    """Refuse to replace a Python file that this command has not written, such as the server itself.

    Raises:
        Problem: If it is one.
    """
    from mcpcore.catalog.python import FIRST_LINE

    if path.suffix.lower() not in {".py", ".pyi"} or not path.is_file():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        begins = file.readline()
    # An empty file has nothing to lose.
    if begins and begins != FIRST_LINE:
        raise Problem(f"{path} is source code that this command has not written.", hint="choose another --output")


def make_catalog(
    ctx: click.Context,
    words: Sequence[str],
    urls: Sequence[str] = (),
    *,
    static: bool,
    timeout: float,
    verbose: bool,
    headers: Mapping[str, str],
) -> Catalog:
    """The catalog of all that a command line names.

    Raises:
        Problem: If a source cannot be read, or none is named.
    """
    try:
        from mcpcore.cli.sources import Source, parse_source, read_sources, require_sources, with_words_after

        command = after_dashes(ctx)
        require_sources(words, command, urls)
        sources = [Source("url", url) for url in urls]
        sources += [parse_source(word, static=static) for word in words]
        require_url(headers, has_url=any(source.kind == "url" for source in sources))
        sources = with_words_after(sources, command, arguments=True)
        return read_sources(sources, timeout=timeout, verbose=verbose, headers=headers)
    except KeyboardInterrupt:
        ctx.exit(INTERRUPTED)


def warn(made: Catalog) -> None:
    """Name on standard error what is wrong with what the servers say."""
    problems = [(server.name, problem) for server in made.servers for problem in server.problems]
    problems += [(f"{server.name}, {item.label}", problem) for server, item in made.items for problem in item.problems]
    for where, problem in problems[:20]:
        output.line(output.styled("Warning:", fg="yellow", bold=True), f" {where}: {problem}", err=True)
    if len(problems) > 20:
        output.line(f"and {len(problems) - 20} more problems; the catalog names them", err=True)
    sys.stderr.flush()
