"""The floor: Django with one view and no middleware, served as Omni is."""

from __future__ import annotations

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

settings.configure(
    SECRET_KEY="bench", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"], MIDDLEWARE=[]
)


def bare(request: HttpRequest) -> HttpResponse:
    return HttpResponse(b'{"status": "ok"}', content_type="application/json")


urlpatterns = [path("bare", bare)]
application = get_asgi_application()
