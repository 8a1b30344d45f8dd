"""One page, several panes: caches are told apart, and a dialog's success moves the centre."""

from __future__ import annotations

import json
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

from omni.workspace.context import RENDERED, pane

PANE_HEADER = "X-Omni-Pane"


class PaneMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code in (301, 302, 303) and pane(request) in ("drawer", "dialog"):
            return _move_centre(response)
        if response.get("Content-Type", "").startswith("text/html"):
            patch_vary_headers(response, ("HX-Request", "HX-Target"))
            rendered = getattr(request, RENDERED, "")
            if rendered:
                # The browser puts nothing else into a pane: bytes that people uploaded must
                # never be taken for one of our pages.
                response[PANE_HEADER] = rendered
                if rendered != "main" or request.method not in ("GET", "HEAD"):
                    # Neither an overlay nor the answer to a form is a place to come back to.
                    response["HX-Push-Url"] = "false"
        return response


def _move_centre(response: HttpResponse) -> HttpResponse:
    """Where a form in the drawer or a dialog redirects to is shown in the centre."""
    moved = HttpResponse()
    moved.cookies = response.cookies
    where = {"path": response["Location"], "target": "#main"}
    moved["HX-Location"] = json.dumps(where)
    return moved
