"""The supervisor of a cell that somebody else has furnished."""

from __future__ import annotations

import os
import socket

from omni.sandbox.cell import supervisor, wire
from omni.sandbox.cell.kernel import SetupFailed


def main(number: int, egress: int) -> None:
    """Run the job that comes over the socket with this number; we must be the first process."""
    channel = socket.socket(fileno=number)
    try:
        if os.getpid() != 1:
            raise SetupFailed("the supervisor is not the first process")
        supervisor.run(channel, egress=bool(egress), without=frozenset())
    except (SetupFailed, OSError, wire.Broken) as error:
        supervisor.refuse(channel, str(error))
    finally:
        os._exit(0)
