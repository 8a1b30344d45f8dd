"""Drives runs in processes that die. Loaded once; every order is carried out by a forked child.

Reads one JSON order per line and answers with one: `start` and `wait` for a driver that may be
killed or frozen, and what a test needs to prepare and to judge the database behind it.
"""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import django

PATIENCE = 180.0


def main(folder: Path) -> None:
    django.setup()
    import omni.celery  # noqa: F401  (hints go to our broker, as from every door)
    from tests.chaos import orders

    for line in sys.stdin:
        order = json.loads(line)
        do = order.pop("do")
        if do == "start":
            answer: Any = {"pid": _fork(lambda: orders.drive(**order), folder)}  # noqa: B023
        elif do == "wait":
            answer = _wait(order["pid"], folder)
        elif do == "signal":
            os.kill(order["pid"], order["signal"])
            answer = {}
        else:
            pid = _fork(lambda: getattr(orders, do)(**order), folder)  # noqa: B023
            answer = _wait(pid, folder)
        print(json.dumps(answer), flush=True)


def _fork(work: Any, folder: Path) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        result = {"state": "done", "result": work()}
    except BaseException as error:  # noqa: BLE001  (reported to the test)
        result = {"state": "failed", "error": f"{type(error).__name__}: {error}"}
    part = folder / f".{uuid.uuid4()}"
    part.write_text(json.dumps(result))
    part.rename(folder / f"{os.getpid()}.json")
    os._exit(0)


def _wait(pid: int, folder: Path) -> dict[str, Any]:
    """Until it ended, died or froze."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
        if not found:
            time.sleep(0.005)
        elif os.WIFSTOPPED(status):
            return {"state": "frozen"}
        elif os.WIFSIGNALED(status):
            return {"state": "killed", "signal": os.WTERMSIG(status)}
        else:
            file = folder / f"{pid}.json"
            answer: dict[str, Any] = json.loads(file.read_text())
            file.unlink()
            return answer
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return {"state": "stuck"}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
