"""The door to Django's management commands, for those who know them."""

from __future__ import annotations

import click

from omni.cli.command import Command
from omni.cli.django import prepare


@click.command(
    cls=Command,
    context_settings={
        "ignore_unknown_options": True,
        "allow_interspersed_args": False,
        "help_option_names": ["--help"],
        "max_content_width": 100,
    },
    examples=(
        "omni manage help",
        "omni manage changepassword admin@omni.local",
        "omni manage migrate --plan",
        "omni manage shell",
    ),
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="COMMAND [ARGS]...")
def manage(arguments: tuple[str, ...]) -> int:
    """Run a management command of Django.

    The same as `manage.py COMMAND` with this installation's settings; `omni manage help` lists
    them.
    """
    prepare()
    from django.core.management import ManagementUtility

    try:
        ManagementUtility(["omni manage", *(arguments or ("help",))]).execute()
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else int(bool(ending.code))
    return 0
