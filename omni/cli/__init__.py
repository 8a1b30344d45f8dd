"""The command line `omni`: runs this machine's installation and talks to any server over HTTP.

Modules named after a noun hold its commands; they are imported only when that command is asked for.
"""

from __future__ import annotations

import sys


def main() -> None:
    """The console script."""
    from omni.cli.root import run

    sys.exit(run(sys.argv[1:]))
