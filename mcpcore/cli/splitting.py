"""Commands that pass the words after `--` to another program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
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
    words: tuple[str, ...] | None = ctx.meta.get(_KEY)
    return words


def complete_files(_ctx: click.Context, _parameter: click.Parameter, _incomplete: str) -> list[CompletionItem]:
    """Let the shell complete file names."""
    from click.shell_completion import CompletionItem

    return [CompletionItem("", type="file")]
