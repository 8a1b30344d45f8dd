"""How long an event takes from the database to 200 people who follow its run in the browser."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import httpx

from omni.services import ports

ROOT = Path(__file__).resolve().parents[2]
SUBSCRIBERS = 200
EVENTS = 140
PAUSE_SECONDS = 0.05
# The first ones find readers that are still being served what was there before.
WARM_UP = 20
PATIENCE_SECONDS = 60
AT = re.compile(rb'"at":"([^"]+)".{0,400}?"name":"step_finished"')


def measure(home: Path, run: uuid.UUID, token: str) -> dict[str, float]:
    """Seconds between the time in the event, which the database gave it, and a reader having it."""
    with web(home) as port, writer(run) as begin:
        delays = asyncio.run(_follow(port, run, token, begin))
    ordered = sorted(delays)
    return {
        "subscribers": SUBSCRIBERS,
        "deliveries": len(ordered),
        "events/s": 1 / PAUSE_SECONDS,
        "p50": ordered[len(ordered) // 2],
        "p99": ordered[len(ordered) * 99 // 100],
    }


@contextmanager
def web(home: Path) -> Iterator[int]:
    """One web process, as an installation runs it."""
    port = ports.remembered(home / "bench-ports.json", "web")
    command = [sys.executable, "-m", "uvicorn", "omni.asgi:application", "--lifespan", "off"]
    command += ["--port", str(port), "--log-level", "error", "--no-access-log"]
    environment = {**os.environ, "OMNI_PROCESS": "web", "OMNI_PORT": str(port)}
    environment["OMNI_STREAMS_PER_USER"] = str(SUBSCRIBERS + 1)
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        until = time.monotonic() + PATIENCE_SECONDS
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > until:
                raise SystemExit("The web process did not start.")
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(20)


def _answers(port: int) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
    return False


@contextmanager
def writer(run: uuid.UUID) -> Iterator[int]:
    """A process that appends at a steady pace, once a byte is written to what this yields."""
    gate, opener = os.pipe()
    pid = os.fork()
    if not pid:
        code = 1
        try:
            os.close(opener)
            if os.read(gate, 1):
                _write(run)
            code = 0
        finally:
            os._exit(code)
    os.close(gate)
    try:
        yield opener
    finally:
        os.close(opener)
        if os.waitpid(pid, 0)[1]:
            raise SystemExit("The process that writes events failed.")


def _write(run: uuid.UUID) -> None:
    from apps.runs import eventlog

    start = time.monotonic()
    for number in range(EVENTS):
        time.sleep(max(start + number * PAUSE_SECONDS - time.monotonic(), 0))
        eventlog.append(run, [eventlog.system("step_finished", {"step": f"s{number}"})])
    time.sleep(0.5)  # what is pushed from a thread must leave before the process does


async def _follow(port: int, run: uuid.UUID, token: str, begin: int) -> list[float]:
    request = (
        f"GET /api/runs/{run}/stream HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Authorization: Bearer {token}\r\nAccept: text/event-stream\r\n\r\n"
    ).encode()
    opened = [await _open(port, request) for _ in range(SUBSCRIBERS)]
    os.write(begin, b".")
    async with asyncio.timeout(EVENTS * PAUSE_SECONDS + PATIENCE_SECONDS):
        found = await asyncio.gather(*(_read(reader) for reader, _ in opened))
    for _, connection in opened:
        connection.close()
    return [delay for delays in found for delay in delays[WARM_UP:]]


async def _open(port: int, request: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, connection = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    connection.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n", 1)[0]:
        raise SystemExit(f"A stream was refused: {head[:80]!r}")
    return reader, connection


async def _read(reader: asyncio.StreamReader) -> list[float]:
    """The delay of every event; each must arrive, so this ends only with the last one."""
    delays: list[float] = []
    rest = b""
    while len(delays) < EVENTS:
        piece = await reader.read(1 << 16)
        now = time.time()
        if not piece:
            raise SystemExit("A stream ended early.")
        *lines, rest = (rest + piece).split(b"\n\n")
        for line in lines:
            found = AT.search(line)
            if found:
                delays.append(now - datetime.fromisoformat(found[1].decode()).timestamp())
    return delays
