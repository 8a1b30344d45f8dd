"""Which content the browser may load: only ours, and no script or style inside a page.

One place widens it: the admin console, for the theme's sake, on its own views.
"""

from __future__ import annotations

from typing import Any

SELF = "'self'"
NONE = "'none'"

_STRICT: dict[str, Any] = {
    "default-src": [SELF],
    "script-src": [SELF],
    "style-src": [SELF],
    "img-src": [SELF, "data:"],
    "font-src": [SELF],
    "connect-src": [SELF],
    "frame-src": [NONE],
    "worker-src": [SELF],
    "manifest-src": [SELF],
    "frame-ancestors": [NONE],
    "form-action": [SELF],
    "base-uri": [NONE],
    "object-src": [NONE],
}

CONTENT_SECURITY_POLICY: dict[str, Any] = {"DIRECTIVES": _STRICT}
