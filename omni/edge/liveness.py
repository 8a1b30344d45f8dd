"""`/healthz` at the front door: answered by the event loop itself, without Django or a thread."""

from __future__ import annotations

from omni.edge.wire import App, Receive, Scope, Send, send_json

HEALTHY = b'{"status": "ok"}'


class Healthz:
    """ASGI middleware; everything but `/healthz` passes."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/healthz":
            await send_json(send, 200, HEALTHY, [(b"content-type", b"application/json")])
        else:
            await self.app(scope, receive, send)
