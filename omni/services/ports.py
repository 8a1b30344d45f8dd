"""Free ports on this machine: checked before they are promised, remembered between starts."""

from __future__ import annotations

import errno
import random
import socket
from pathlib import Path

from omni.services import private, wording

LOOPBACK = "127.0.0.1"
# Below the range from which the kernel takes ports for outgoing connections.
LOWEST, HIGHEST = 15000, 31000


def is_free(port: int, host: str = LOOPBACK) -> bool:
    return _bind_error(host, port) == 0


def require_free(host: str, port: int) -> None:
    """Raise the sentence that fits when the web server could not listen there."""
    number = _bind_error(host, port)
    if number == errno.EADDRINUSE:
        raise wording.port_in_use(host, port)
    if number in (errno.EACCES, errno.EPERM):
        raise wording.port_forbidden(host, port)
    if number:
        raise wording.host_unknown(host)


def remembered(file: Path, name: str) -> int:
    """The port this server had last time if it is still free, else a new one."""
    known = private.read_json(file)
    port = known.get(name)
    if not isinstance(port, int) or not LOWEST <= port < HIGHEST or not is_free(port):
        port = _another({value for value in known.values() if isinstance(value, int)})
        private.write_json(file, {**known, name: port})
    return port


def _another(taken: set[int]) -> int:
    for _ in range(200):
        port = random.randrange(LOWEST, HIGHEST)  # noqa: S311  (a port is no secret)
        if port not in taken and is_free(port):
            return port
    raise wording.no_free_port()


def _bind_error(host: str, port: int) -> int:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        return errno.EADDRNOTAVAIL
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            # With the option above, Linux reports a listener only here or on bind, by family.
            probe.listen(1)
        except OSError as error:
            return error.errno or errno.EADDRNOTAVAIL
    return 0
