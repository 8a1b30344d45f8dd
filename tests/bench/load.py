"""A bounded load over keep-alive connections to 127.0.0.1, light enough not to be the limit."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field


@dataclass
class Load:
    """What one target answered."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    def quantile(self, part: float) -> float:
        ordered = sorted(self.latencies)
        return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


async def _client(port: int, request: bytes, deadline: float, load: Load, most: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while time.perf_counter() < deadline and len(load.latencies) < most:
            start = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            await _read_body(reader, head)
            load.latencies.append(time.perf_counter() - start)
            status = int(head.split(b" ", 2)[1])
            load.statuses[status] = load.statuses.get(status, 0) + 1
    finally:
        writer.close()


async def _read_body(reader: asyncio.StreamReader, head: bytes) -> None:
    lower = head.lower()
    if b"content-length:" in lower:
        length = int(lower.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
        await reader.readexactly(length)
        return
    while (size := int((await reader.readline()).strip() or b"0", 16)) > 0:
        await reader.readexactly(size + 2)
    await reader.readline()


def run(
    port: int,
    path: str,
    *,
    headers: dict[str, str] | None = None,
    seconds: float = 4.0,
    clients: int = 8,
    most: int = 20_000,
) -> Load:
    """Ask for `path` for a while; at most `most` times."""
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    request = ("\r\n".join(lines) + "\r\n\r\n").encode()
    load = Load()

    async def go() -> None:
        deadline = time.perf_counter() + seconds
        await asyncio.gather(
            *(_client(port, request, deadline, load, most) for _ in range(clients))
        )

    start = time.perf_counter()
    asyncio.run(go())
    load.seconds = time.perf_counter() - start
    return load
