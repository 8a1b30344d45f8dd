"""Programs that one talks to: as isolated as a job, alive until they are closed."""

from __future__ import annotations

import json
import uuid

import pytest

from omni.sandbox.session import open_session
from tests.sandbox.test_jobs import alive

pytestmark = [pytest.mark.req("SBX-1", "MCP-1"), pytest.mark.xdist_group("sandbox")]

SERVER = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"asked": asked, "user": os.getuid(), "names": sorted(os.environ)}
    print(json.dumps(answer), flush=True)
print("bye", file=sys.stderr)
"""


def test_it_answers_until_its_input_ends() -> None:
    session = open_session(("python3", "-c", SERVER), {"GREETING": "hello"}, (), {})
    try:
        for number in range(3):
            session.stdin.write(json.dumps(number).encode() + b"\n")
            answer = json.loads(session.stdout.readline())
            assert (answer["asked"], answer["user"]) == (number, 1000)
            assert "GREETING" in answer["names"]
        session.stdin.close()
        result = session.wait(60)
        assert result is not None and (result.status, result.stderr) == ("ok", b"bye\n")
        assert session.stdout.read() == b""
    finally:
        session.close()


def test_closing_ends_it_with_all_it_started() -> None:
    code = "import os, time\nos.fork()\nprint('ready', flush=True)\ntime.sleep(3600)"
    mark = uuid.uuid4().hex
    session = open_session(("python3", "-c", code, mark), {}, (), {"wall_seconds": 90})
    assert session.stdout.readline() == b"ready\n"
    session.close()
    session.close()
    assert session.result is not None and session.result.status == "cancelled"
    assert alive(mark) == []


@pytest.mark.req("SBX-4")
def test_its_limits_hold() -> None:
    code = "import time\nkept = bytearray(b'x' * (300 << 20))\ntime.sleep(3600)"
    limits = {"wall_seconds": 90, "memory_bytes": 64 << 20}
    session = open_session(("python3", "-c", code), {}, (), limits)
    result = session.wait(60)
    session.close()
    assert result is not None and result.status == "memory_limit"
