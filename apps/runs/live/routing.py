"""Addresses of WebSockets."""

from channels.routing import URLRouter
from django.urls import path, re_path

from apps.runs.live.consumers import RunConsumer, UnknownSocket

websockets = URLRouter(
    [
        path("ws/runs/<uuid:id>", RunConsumer.as_asgi()),
        re_path("", UnknownSocket.as_asgi()),
    ]
)
