"""Real servers for every test: embedded ones in a throw-away folder, or those the URLs name.

A pytest plugin (`-p tests.servers`), because Django's settings are read before any conftest.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from omni.services.embedded import EmbeddedServices

_services: EmbeddedServices | None = None


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Runs in the controller only; xdist workers inherit its environment."""
    global _services
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        # Keys and workspaces of its own: rotating keys in one worker must not lock the other out.
        home = Path(os.environ["OMNI_HOME"]) / worker
        (home / "static").mkdir(parents=True, exist_ok=True)
        os.environ["OMNI_HOME"] = str(home)
        return
    home = Path(tempfile.mkdtemp(prefix="omni-test-"))
    (home / "static").mkdir()  # whitenoise warns about a missing folder, and warnings are errors
    database, redis = os.environ.get("OMNI_DATABASE_URL"), os.environ.get("OMNI_REDIS_URL")
    _services = EmbeddedServices(home, durable=False, postgres=not database, redis=not redis)
    endpoints = _services.start()
    os.environ["OMNI_HOME"] = str(home)
    os.environ["OMNI_PROCESS"] = "test"
    os.environ["OMNI_DATABASE_URL"] = database or endpoints.database_url
    os.environ["OMNI_REDIS_URL"] = redis or endpoints.redis_url


def pytest_unconfigure() -> None:
    global _services
    if _services is not None:
        _services.stop()
        shutil.rmtree(_services.home, ignore_errors=True)
        _services = None
