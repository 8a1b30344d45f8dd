"""`python -m tests.mcp` serves all of them on a free port of loopback, which it prints."""

from __future__ import annotations

import socket

import uvicorn
from starlette.applications import Starlette

from tests.mcp import friendly, hostile

if __name__ == "__main__":
    found, lifespan = friendly.routes()
    app = Starlette(routes=[*found, *hostile.routes], lifespan=lifespan)
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        print(listening.getsockname()[1], flush=True)
        config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
        uvicorn.Server(config).run(sockets=[listening])
