"""`python -m tests.conformance.mcp_client URL`: our client, as the official judge starts it."""

from __future__ import annotations

import os
import sys
from urllib.parse import urlsplit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.typing_settings")
CALLS = {
    "tools_call": ("add_numbers", {"a": 5, "b": 3}),
    "sse-retry": ("test_reconnection", {}),
}


def main(url: str) -> None:
    from apps.tools.mcp.client import call_tool, discover
    from apps.tools.mcp.target import Bounds, Target

    parts = urlsplit(url)
    here = frozenset({f"{parts.hostname}:{parts.port}"})
    target = Target("judge", "streamable_http", url=url, allow_private=here)
    found = discover(target, bounds=Bounds(seconds=60))
    tool, arguments = CALLS.get(os.environ.get("MCP_SCENARIO", ""), ("", {}))
    if tool:
        sha256 = next(each.sha256 for each in found.definitions if each.name == tool)
        call_tool(target, tool, arguments, definition_sha256=sha256, bounds=Bounds(seconds=60))


if __name__ == "__main__":
    main(sys.argv[1])
