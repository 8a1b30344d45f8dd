"""What every store of artifacts does; `tests/runs/test_artifact_stores.py` holds each to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Protocol, cast

from django.core.files.storage import storages

IN_MEMORY = 1 << 20


@dataclass(frozen=True, slots=True)
class Kept:
    """One stored object, as a listing shows it."""

    name: str
    size: int
    modified: datetime


class ArtifactStore(Protocol):
    """Bytes under names. A store that is away raises `Unavailable`, whatever was asked of it."""

    def size_of(self, name: str) -> int | None:
        """Its size, or None when there is no such object."""
        ...

    def put(self, name: str, stream: IO[bytes]) -> None:
        """Store a whole stream; under its name is all of it or what was there before."""
        ...

    def fetch(self, name: str) -> IO[bytes]:
        """Its bytes, read from a disk and never all in memory; NotFound when it is gone."""
        ...

    def remove(self, name: str) -> None:
        """Let go of it; harmless when it is gone already."""
        ...

    def everything(self) -> Iterator[Kept]:
        """All objects, as a stream: there may be millions."""
        ...

    def drop_unfinished(self, before: datetime) -> int:
        """Remove what writers left that died before that moment; answers how many."""
        ...

    def look(self) -> None:
        """Whether it can be used now; raises `Unavailable` with the reason."""
        ...


def artifact_store() -> ArtifactStore:
    """The one that OMNI_ARTIFACT_STORE chose."""
    return cast(ArtifactStore, storages["artifacts"])
