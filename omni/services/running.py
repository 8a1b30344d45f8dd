"""Whether the installation here runs, without loading the servers' drivers as `commands` would."""

from __future__ import annotations

from dataclasses import replace

from omni.config import Config
from omni.services.home import Lock
from omni.services.state import Status, read_state


def running_status(config: Config) -> Status:
    """After a kill -9 the state may lie; the lock never does."""
    if not Lock(config.home).is_held():
        return Status(url=config.base_url)
    return replace(read_state(config.home), running=True)
