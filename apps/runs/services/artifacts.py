"""Artifacts: content-addressed bytes, stored once, referred to by events, checked when read."""

from __future__ import annotations

import hashlib
import io
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from django.core.files.base import File
from django.core.files.storage import storages
from django.db import connection, transaction

from apps.registry.models import User
from apps.registry.permissions import require
from apps.registry.roles import Permission
from apps.runs import eventlog
from apps.runs.eventlog import Lease, NewEvent
from apps.runs.eventlog.append import RunEnded
from apps.runs.models import Artifact, ArtifactUse, Run
from apps.runs.services.runs import actor_of
from omni import config
from omni.contracts.canonical import digest
from omni.contracts.errors import ErrorCategory, NotFound, OmniError
from omni.contracts.validation import validate_payload
from omni.engine.lifecycle import TERMINAL

CHUNK = 1 << 20
IN_MEMORY = 1 << 20


class TooLarge(OmniError):
    category = ErrorCategory.TOO_LARGE


class Damaged(OmniError):
    """What is stored is not what was stored; nobody gets it."""

    category = ErrorCategory.INTERNAL


@dataclass(frozen=True, slots=True)
class Received:
    """Bytes that arrived, measured while they did, at their beginning again."""

    stream: IO[bytes]
    sha256: str
    size: int


def location(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}"


def attach_artifact(
    *, actor: User, run: Run, received: Received, media_type: str, name: str = ""
) -> ArtifactUse:
    """A person or a program gives a run a file."""
    require(actor, Permission.OPERATE, run.project)
    if run.status in TERMINAL:
        raise RunEnded(f"The run has ended ({run.status}).", remedy="Give it to another run.")
    return _store(
        run.pk, received, media_type=media_type, name=name, actor=actor_of(actor), lease=None
    )


def store_artifact(
    run_id: uuid.UUID,
    data: bytes | IO[bytes],
    *,
    media_type: str,
    name: str = "",
    actor: str = "system",
    lease: Lease | None = None,
) -> Artifact:
    """Store bytes under their hash and append the `artifact_ref` that makes them the run's."""
    source = io.BytesIO(data) if isinstance(data, bytes) else data
    with receive(source) as received:
        use = _store(run_id, received, media_type=media_type, name=name, actor=actor, lease=lease)
    return use.artifact


@contextmanager
def receive(source: IO[Any]) -> Iterator[Received]:
    """Read a stream once, in pieces and within the limit; large ones rest on the disk."""
    limit = config.current().artifact_max_bytes
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as kept:
        summed, size = hashlib.sha256(), 0
        while chunk := source.read(CHUNK):
            size += len(chunk)
            if size > limit:
                raise TooLarge(
                    f"An artifact has at most {limit} bytes.",
                    remedy="The operator sets the limit with OMNI_ARTIFACT_MAX_BYTES.",
                )
            summed.update(chunk)
            kept.write(chunk)
        kept.seek(0)
        yield Received(kept, summed.hexdigest(), size)


def open_artifact(sha256: str) -> IO[bytes]:
    """The bytes, after a look at all of them: what does not match its name is not handed out."""
    try:
        stream: IO[bytes] = storages["artifacts"].open(location(sha256), "rb")
    except FileNotFoundError:
        raise NotFound("The artifact's bytes are gone.") from None
    summed = hashlib.sha256()
    while chunk := stream.read(CHUNK):
        summed.update(chunk)
    if summed.hexdigest() != sha256:
        stream.close()
        raise Damaged(
            "The stored bytes do not match their hash.",
            remedy="Restore the artifact store from a backup.",
            data={"sha256": sha256},
        )
    stream.seek(0)
    return stream


@transaction.atomic
def _store(
    run_id: uuid.UUID,
    received: Received,
    *,
    media_type: str,
    name: str,
    actor: str,
    lease: Lease | None,
) -> ArtifactUse:
    reference: dict[str, Any] = {
        "sha256": received.sha256,
        "size": received.size,
        "media_type": media_type,
    }
    if name:
        reference["name"] = name
    validate_payload("artifact_ref", None, reference)
    # Until this transaction ends nobody collects these bytes, also if they are an old leftover.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [lock_number(received.sha256)])
    _keep(received)
    artifact, _ = Artifact.objects.get_or_create(
        pk=received.sha256, defaults={"size": received.size}
    )
    use, _ = ArtifactUse.objects.get_or_create(
        artifact=artifact, run_id=run_id, name=name, media_type=media_type
    )
    event = NewEvent("artifact_ref", reference, key=f"artifact-{digest(reference)}")
    eventlog.append(run_id, [event], actor=actor, lease=lease)
    return use


def _keep(received: Received) -> None:
    store = storages["artifacts"]
    where = location(received.sha256)
    if not store.exists(where) or store.size(where) != received.size:
        received.stream.seek(0)
        store.save(where, File(received.stream))


def lock_number(sha256: str) -> int:
    return int.from_bytes(bytes.fromhex(sha256[:16]), "big", signed=True)
