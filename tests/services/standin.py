"""An installation with the real supervisor and servers, but tiny stand-ins for Django's processes.

Run as `python -m tests.services.standin up [--detach]`; the settings come from OMNI_*.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from omni import config as settings
from omni.services import __main__ as front
from omni.services import commands
from omni.services.program import MARK, Program
from omni.services.programs import Plan

WEB = """
import http.server, os, sys
class Door(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"ready")
    def log_message(self, *args): pass
print("web is listening", flush=True)
address = os.environ["OMNI_HOST"], int(os.environ["OMNI_PORT"])
http.server.HTTPServer(address, Door).serve_forever()
"""
# Like Celery's pool: a parent with a child that asked to die with it.
WORKER = """
import ctypes, os, time
if os.fork() == 0:
    ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
    os.execv("/bin/sleep", ["sleep", "1000"])
print("worker is working", flush=True)
time.sleep(1000)
"""
BEAT = "import time; print('beat', flush=True); time.sleep(1000)"
SETUP = """
import json, os, pathlib, sys
made = pathlib.Path(os.environ["OMNI_HOME"], "keys", "made")
made.parent.mkdir(exist_ok=True)
password = None if made.exists() else "first-pass-word"
made.touch()
print("setup speaks on stderr", file=sys.stderr)
for part in ("schema", "assets"):
    print(json.dumps({"done": part}), flush=True)
print(json.dumps({"admin_email": "admin@omni.local", "admin_password": password}))
"""


def stand_in(name: str, code: str) -> Program:
    env = {**os.environ, MARK: os.environ["OMNI_HOME"]}
    env.setdefault("OMNI_HOST", "127.0.0.1")
    code = os.environ.get(f"STANDIN_{name.upper()}", code)
    argv = (sys.executable, "-I", "-S", "-c", code)
    return Program(name=name, argv=argv, cwd=Path("/"), env=env, stop_seconds=3)


def plan() -> Plan:
    return Plan(
        setup=stand_in("setup", SETUP),
        processes=(stand_in("web", WEB), stand_in("worker", WORKER), stand_in("beat", BEAT)),
    )


if __name__ == "__main__":
    if sys.argv[1] == "up":
        sys.exit(commands.up(settings.load(), detach="--detach" in sys.argv, plan=plan()))
    sys.exit(front.main(sys.argv[1:]))
