"""`mcpcore completion`: print the completion script of a shell."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import get_completion_class

from mcpcore.cli import output
from mcpcore.cli.root import PROGRAM, SHELLS, cli

_VARIABLE: Final = f"_{PROGRAM.upper()}_COMPLETE"


@click.command(
    epilog="""\b
Add one of these lines to the start-up file of the shell, or run it once to try:
  bash  eval "$(mcpcore completion bash)"     in ~/.bashrc
  zsh   eval "$(mcpcore completion zsh)"      in ~/.zshrc, after compinit
  fish  mcpcore completion fish | source      in ~/.config/fish/config.fish""",
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script of SHELL."""
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    script = completion_class(cli, {}, PROGRAM, _VARIABLE)
    output.text(script.source_template % script.source_vars())
