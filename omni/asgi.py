"""The web process: Django, and WebSockets beside it, behind the limits every request must pass."""

from __future__ import annotations

import os
import warnings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "omni.settings")
os.environ.setdefault("OMNI_PROCESS", "web")

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

# WhiteNoise opens files synchronously; ours are small, and Django reads them in one go.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous")
_django = get_asgi_application()

from apps.runs.live.routing import websockets  # noqa: E402  (needs Django to be set up)
from omni import config  # noqa: E402
from omni.edge.body_limit import BodyLimit  # noqa: E402
from omni.edge.liveness import Healthz  # noqa: E402

_protocols = ProtocolTypeRouter({"http": _django, "websocket": websockets})
_limits = config.current()
application = Healthz(
    BodyLimit(_protocols, limit=_limits.max_request_bytes, uploads=_limits.artifact_max_bytes)
)
