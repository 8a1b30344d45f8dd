"""Saved logins: one token per server, in a file that only this user can read."""

from __future__ import annotations

import json
import os
import secrets
import stat
from pathlib import Path
from typing import Any

from omni.contracts.errors import ConfigError


def credentials_file() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(base) if base.startswith("/") else Path.home() / ".config"
    return folder / "omni" / "credentials.json"


def saved_tokens() -> dict[str, str]:
    """Tokens by server address."""
    servers = _read().get("servers", {})
    return {url: entry["token"] for url, entry in servers.items() if entry.get("token")}


def default_server() -> str | None:
    """The server of the latest login."""
    found = _read().get("default")
    return found if isinstance(found, str) and found in saved_tokens() else None


def save(url: str, *, token: str, email: str) -> Path:
    known = _read()
    servers = {**known.get("servers", {}), url: {"token": token, "email": email}}
    return _write({"default": url, "servers": servers})


def forget(url: str) -> bool:
    known = _read()
    servers = dict(known.get("servers", {}))
    if servers.pop(url, None) is None:
        return False
    default = known.get("default")
    _write({"default": default if default in servers else None, "servers": servers})
    return True


def _read() -> dict[str, Any]:
    file = credentials_file()
    try:
        with file.open(encoding="utf-8") as stream:
            mode = stat.S_IMODE(os.fstat(stream.fileno()).st_mode)
            value = json.load(stream)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise ConfigError(
            f"The saved logins in {file} cannot be read.",
            remedy="Repair or delete that file, then run `omni login URL` again.",
        ) from None
    if mode & 0o077:
        raise ConfigError(
            f"The saved logins in {file} can be read by other users of this machine.",
            remedy=f"Run `chmod 600 '{file}'`, and revoke those tokens if others had access.",
        )
    return value if isinstance(value, dict) else {}


def _write(value: dict[str, Any]) -> Path:
    file = credentials_file()
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = file.with_name(f".{file.name}.{secrets.token_hex(6)}")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(json.dumps(value, indent=2) + "\n")
        fresh.replace(file)
    except OSError as error:
        raise ConfigError(
            f"The login cannot be saved in {file}: {error.strerror}.",
            remedy="Make that folder writable, or use OMNI_URL and OMNI_TOKEN instead.",
        ) from None
    return file
