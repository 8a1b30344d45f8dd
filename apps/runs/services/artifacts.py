"""Artifacts: content-addressed bytes, stored once, referred to by events, checked when read."""

from __future__ import annotations

import hashlib
import io
import tempfile
import unicodedata
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from django.db import connection, transaction

from apps.registry.models import User
from apps.registry.permissions import require
from apps.registry.roles import Permission
from apps.runs import eventlog
from apps.runs.eventlog import Lease, NewEvent
from apps.runs.eventlog.append import RunEnded
from apps.runs.models import Artifact, ArtifactUse, Run
from apps.runs.services.runs import actor_of
from apps.runs.storage import artifact_store
from omni import config
from omni.contracts.canonical import digest
from omni.contracts.errors import ErrorCategory, InvalidInput, OmniError
from omni.contracts.validation import validate_payload
from omni.engine.lifecycle import TERMINAL

CHUNK = 1 << 20
IN_MEMORY = 1 << 20
LONGEST_TYPE = 120
# With these `gpj.exe` reads `exe.jpg`.
TURNING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


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
    stream = artifact_store().fetch(location(sha256))
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
    refuse_misleading(name, media_type)
    # The transfer may take long; only the short part below holds a transaction open.
    _keep(received)
    with transaction.atomic():
        # Until it ends nobody collects these bytes, also if they are an old leftover.
        with connection.cursor() as cursor:
            number = lock_number(received.sha256)
            cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [number])
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
    store = artifact_store()
    where = location(received.sha256)
    if store.size_of(where) != received.size:
        received.stream.seek(0)
        store.put(where, received.stream)


def refuse_misleading(name: str, media_type: str) -> None:
    """A name is shown and suggested to browsers: it must read as it is, and name a file."""
    if len(media_type) > LONGEST_TYPE:
        raise InvalidInput(f"A media type has at most {LONGEST_TYPE} characters.")
    if name.strip(" .") == "" and name:
        raise InvalidInput.field("name", "A name needs more than dots and spaces.")
    if any(unicodedata.bidirectional(each) in TURNING for each in name):
        raise InvalidInput.field("name", "A name must not turn the direction of reading.")


def lock_number(sha256: str) -> int:
    return int.from_bytes(bytes.fromhex(sha256[:16]), "big", signed=True)
