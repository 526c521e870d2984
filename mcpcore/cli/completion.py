"""`mcpcore completion`: the script that makes a shell complete the command."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import get_completion_class

from mcpcore.cli import output
from mcpcore.cli.root import PROGRAM, SHELLS

_VARIABLE: Final = f"_{PROGRAM.upper()}_COMPLETE"


@click.command(
    epilog="""\b
Put one of these lines into the shell's start-up file, or run it once to try:
  bash  eval "$(mcpcore completion bash)"     in ~/.bashrc
  zsh   eval "$(mcpcore completion zsh)"      in ~/.zshrc, after compinit
  fish  mcpcore completion fish | source      in ~/.config/fish/config.fish""",
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script of SHELL."""
    from mcpcore.cli.root import cli

    found = get_completion_class(shell)
    assert found is not None
    maker = found(cli, {}, PROGRAM, _VARIABLE)
    output.text(maker.source_template % maker.source_vars())
