"""What every executor takes, gives back and may raise; none of them knows of policy."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from omni.contracts.errors import ErrorCategory, OmniError
from omni.contracts.ports import RunContext
from omni.contracts.types.shapes import ToolErrorCategory
from omni.contracts.types.tool_manifest import ToolManifest


@dataclass(frozen=True, slots=True)
class Call:
    """One authorised call: its input is valid, the policy has decided, the intent is recorded."""

    call_id: str
    manifest: ToolManifest
    arguments: Mapping[str, Any]
    project_id: uuid.UUID
    run: RunContext
    workspace: Path
    """The run's workspace root; paths of arguments are relative to it."""
    secret: Callable[[str], str]
    """From a reference to its value, for the last step before it is needed; never kept."""
    hosts: tuple[str, ...] = ()
    """Hosts that were approved for this call."""
    dry_run: bool = False
    """Say what would happen; change nothing. Only for tools whose manifest says `simulates`."""


@dataclass(frozen=True, slots=True)
class ProducedFile:
    """A file that a call made; it becomes an artifact of the run."""

    name: str
    data: bytes
    media_type: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file of the workspace before and after; a hash is None where there was none.

    The bytes of a large file are not kept: then only its hashes tell that it changed.
    """

    path: str
    before: bytes | None
    after: bytes | None
    before_sha256: str | None = None
    after_sha256: str | None = None

    @classmethod
    def of(cls, path: str, before: bytes | None, after: bytes | None) -> FileChange:
        """A change whose bytes are all at hand."""
        hashes = (None if each is None else hashlib.sha256(each).hexdigest()
                  for each in (before, after))  # fmt: skip
        return cls(path, before, after, *hashes)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call gave; `output` is checked against the manifest by whoever called."""

    output: Any
    files: tuple[ProducedFile, ...] = ()
    changes: tuple[FileChange, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)
    """Measurements for programs, such as the sandbox's."""


class ToolError(OmniError):
    """A call that gave no result; `kind` is the category of the `tool_error` event."""

    def __init__(
        self,
        kind: ToolErrorCategory,
        message: str,
        *,
        remedy: str = "",
        data: dict[str, Any] | None = None,
        changes: tuple[FileChange, ...] = (),
    ) -> None:
        super().__init__(message, category=ErrorCategory.INVALID, remedy=remedy, data=data)
        self.kind = kind
        self.changes = changes
        """What it had changed in the workspace before it failed."""


class Executor(Protocol):
    """One way to carry out calls."""

    @property
    def kind(self) -> str:
        """As manifests name it: `inproc_safe`, `sandbox_job`, `mcp_remote`, `openapi_proxy`."""
        ...

    @property
    def version(self) -> str:
        """Recorded with each call."""
        ...

    def execute(self, call: Call) -> Outcome:
        """Carry it out, or raise ToolError; stop soon after `call.run.cancelled()`."""
        ...
