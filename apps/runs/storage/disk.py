"""Artifacts on a disk: a file is there whole under its name, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import structlog
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage

from apps.runs.storage.base import Kept
from omni.contracts.errors import NotFound, Unavailable

log = structlog.get_logger(__name__)
INCOMING = "incoming"


class ArtifactFiles(FileSystemStorage):
    """Writes beside the final name, flushes to the disk, then renames; the last writer wins.

    Names are hashes of the content, so replacing a file puts the same bytes in its place.
    """

    def size_of(self, name: str) -> int | None:
        with _trouble():
            try:
                return Path(self.path(name)).stat().st_size
            except FileNotFoundError:
                return None

    def put(self, name: str, stream: IO[bytes]) -> None:
        with _trouble():
            self._save(name, File(stream))

    def fetch(self, name: str) -> IO[bytes]:
        with _trouble():
            try:
                return Path(self.path(name)).open("rb")
            except FileNotFoundError:
                raise NotFound("The artifact's bytes are gone.") from None

    def remove(self, name: str) -> None:
        with _trouble():
            Path(self.path(name)).unlink(missing_ok=True)

    def everything(self) -> Iterator[Kept]:
        with _trouble():
            top = Path(self.location)
            for place, _, files in os.walk(top):
                if Path(place) == top / INCOMING:
                    continue
                for file in files:
                    # It may have been removed since the folder was read.
                    with suppress(FileNotFoundError):
                        yield _kept(Path(place, file), top)

    def drop_unfinished(self, before: datetime) -> int:
        removed = 0
        with _trouble():
            for path in Path(self.path(INCOMING)).glob("*"):
                # It may have been renamed meanwhile: then it is finished.
                with suppress(FileNotFoundError):
                    if _kept(path, path.parent).modified < before:
                        path.unlink()
                        removed += 1
        return removed

    def look(self) -> None:
        with _trouble():
            self._folder(Path(self.path(INCOMING)))
            with tempfile.TemporaryFile(dir=self.path(INCOMING)) as file:
                file.write(b"x")

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        return name

    def _save(self, name: str, content: Any) -> str:
        final = Path(self.path(name))
        incoming = Path(self.path(INCOMING))
        for folder in (incoming, final.parent):
            self._folder(folder)
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

    def _folder(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=self.directory_permissions_mode or 0o777)


@contextmanager
def _trouble() -> Iterator[None]:
    """A full or broken disk in one sentence, which names no folder."""
    try:
        yield
    except OSError as error:
        log.error("artifact_store_failed", error=f"{type(error).__name__}: {error}")
        raise Unavailable(
            f"The artifact store cannot be used: {(error.strerror or 'it failed').lower()}.",
            remedy="Look after the disk that OMNI_HOME is on.",
        ) from error


def _kept(path: Path, top: Path) -> Kept:
    facts = path.stat()
    name = path.relative_to(top).as_posix()
    return Kept(name, facts.st_size, datetime.fromtimestamp(facts.st_mtime, UTC))


def _sync_folder(folder: Path) -> None:
    """A rename survives a power cut only once its folder is on the disk too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
