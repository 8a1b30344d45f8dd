"""Artifacts on a disk: a file is there whole under its name, or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from django.core.files.storage import FileSystemStorage

INCOMING = "incoming"


class ArtifactFiles(FileSystemStorage):
    """Writes beside the final name, flushes to the disk, then renames; the last writer wins.

    Names are hashes of the content, so replacing a file puts the same bytes in its place.
    """

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        return name

    def _save(self, name: str, content: Any) -> str:
        final = Path(self.path(name))
        incoming = Path(self.path(INCOMING))
        for folder in (incoming, final.parent):
            folder.mkdir(parents=True, exist_ok=True, mode=self.directory_permissions_mode or 0o777)
        handle, temporary = tempfile.mkstemp(dir=incoming)
        try:
            with os.fdopen(handle, "wb") as stream:
                for chunk in content.chunks():
                    stream.write(chunk)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, final)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        _sync_folder(final.parent)
        return name


def _sync_folder(folder: Path) -> None:
    """A rename survives a power cut only once its folder is on the disk too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
