"""Tab completion for the shells that have it."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import get_completion_class

from omni.cli.command import Command

INSTALL = {
    "bash": 'Add this line to ~/.bashrc:\n#   eval "$(omni completion bash)"',
    "zsh": 'Add this line to ~/.zshrc, after compinit:\n#   eval "$(omni completion zsh)"',
    "fish": "Run once:\n#   omni completion fish > ~/.config/fish/completions/omni.fish",
}


@click.command(
    cls=Command,
    examples=(
        """echo 'eval "$(omni completion bash)"' >> ~/.bashrc""",
        "omni completion fish > ~/.config/fish/completions/omni.fish",
    ),
)
@click.argument("shell", type=click.Choice(sorted(INSTALL)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Complete commands with Tab.

    Prints the script for a shell; its first lines say how to install it.
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"There is no completion for {shell}.")
    root: Any = context.find_root().command
    script = kind(root, {}, "omni", "_OMNI_COMPLETE")
    # `source()` would start bash to ask for its version; every supported system has a newer one.
    click.echo(f"# {INSTALL[shell]}\n")
    click.echo(script.source_template % script.source_vars())
