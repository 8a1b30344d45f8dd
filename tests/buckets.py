"""A real S3 server for tests: rclone's, which keeps its buckets as folders.

A test may look into them; it must not change them past the server, which remembers listings.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from omni.bucket import connect
from omni.config import Config
from tests.services.installation import free_port

OBJECTS = "apps.runs.storage.objects.ArtifactObjects"
ACCESS_KEY, SECRET_KEY = "test-key", "test-secret-of-the-bucket"
PATIENCE = 120


@dataclass
class BucketServer:
    """A server on loopback; `stop` and `start` again for one that is away for a while."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Somebody may have its port for a moment: then it is launched again."""
        self.process = self._launch()
        until = time.monotonic() + PATIENCE
        while not self._answers():
            assert time.monotonic() < until, "no S3 server"
            time.sleep(0.02)
            if self.process.poll() is not None:
                self.process = self._launch()

    def _launch(self) -> subprocess.Popen[bytes]:
        program = Path(sys.executable).with_name("rclone")
        return subprocess.Popen(
            [program, "--config=/dev/null", "serve", "s3", f"--addr=127.0.0.1:{self.port}",
             f"--auth-key={ACCESS_KEY},{SECRET_KEY}", str(self.folder)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _answers(self) -> bool:
        try:
            httpx.get(self.url, trust_env=False)
        except httpx.TransportError:
            return False
        return True

    def make_bucket(self) -> str:
        name = f"bucket-{uuid.uuid4().hex}"
        connect(self.config(name)).create_bucket(Bucket=name)
        return name

    def options(self, bucket: str, **changed: Any) -> dict[str, Any]:
        """What `omni.settings` gives to the store."""
        return {
            "bucket_name": bucket,
            "endpoint_url": self.url,
            "region_name": "us-east-1",
            "access_key": ACCESS_KEY,
            "secret_key": SECRET_KEY,
            **changed,
        }

    def config(self, bucket: str, **changed: Any) -> Config:
        settings = {
            "artifact_store": "s3",
            "artifact_bucket": bucket,
            "artifact_endpoint": self.url,
            "artifact_access_key": ACCESS_KEY,
            "artifact_secret_key": SECRET_KEY,
        }
        return Config(**{**settings, **changed})


@contextmanager
def serving() -> Iterator[BucketServer]:
    folder = Path(tempfile.mkdtemp(prefix="omni-buckets-"))
    server = BucketServer(folder, free_port())
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def use_store(settings: Any, backend: str, options: dict[str, Any]) -> None:
    store = {"BACKEND": backend, "OPTIONS": options}
    settings.STORAGES = {**settings.STORAGES, "artifacts": store}
