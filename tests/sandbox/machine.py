"""Things of the machine that hostile programs look for: a file, a port, sockets, a variable."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path


@contextmanager
def machine() -> Iterator[dict[str, str]]:
    """Their names, as variables for the programs; everything is open to every user."""
    folder = Path(tempfile.mkdtemp(prefix="omni-machine-"))
    folder.chmod(0o755)
    (folder / "secret.txt").write_text("a secret of the machine")
    abstract = f"omni-machine-{os.getpid()}-{os.urandom(4).hex()}"
    path = str(folder / "door.sock")
    with ExitStack() as stack:
        port = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        for name in (f"\0{abstract}", path):
            door = stack.enter_context(socket.socket(socket.AF_UNIX))
            door.bind(name)
            door.listen()
        os.chmod(path, 0o777)
        stack.callback(shutil.rmtree, folder)
        yield {
            "HOST_FILE": str(folder / "secret.txt"),
            "HOST_PORT": str(port.getsockname()[1]),
            "HOST_ABSTRACT": abstract,
            "HOST_SOCKET": path,
        }
