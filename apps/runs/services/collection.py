"""Removes stored bytes that nothing refers to any more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

from django.db import connection, transaction
from django.utils import timezone

from apps.runs.models import Artifact, ArtifactUse
from apps.runs.services.artifacts import location, lock_number
from apps.runs.storage import artifact_store

GRACE = timedelta(hours=1)
BATCH = 1000
_NAME = re.compile(r"[0-9a-f]{64}")


def collect_garbage(*, grace: timedelta = GRACE) -> int:
    """Only what is old, named by a hash, and in no run; whoever is storing it now keeps it."""
    now = timezone.now()
    removed = 0
    old = _stored(now - grace)
    while names := list(islice(old, BATCH)):
        # Most is in use: one question for many, and a close look at the rest.
        used = set(
            ArtifactUse.objects.filter(artifact__in=names).values_list("artifact", flat=True)
        )
        removed += sum(_remove(sha256) for sha256 in names if sha256 not in used)
    return removed + artifact_store().drop_unfinished(now - GRACE)


@transaction.atomic
def _remove(sha256: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [lock_number(sha256)])
        if not cursor.fetchone()[0]:
            return False
    artifact = Artifact.objects.filter(pk=sha256).first()
    if artifact is not None:
        if artifact.uses.exists():
            return False
        artifact.delete()
    artifact_store().remove(location(sha256))
    return True


def _stored(before: datetime) -> Iterator[str]:
    """Hashes of what was stored before; anything that has another form is not ours."""
    for kept in artifact_store().everything():
        sha256 = kept.name.rpartition("/")[2]
        ours = _NAME.fullmatch(sha256) and kept.name == location(sha256)
        if ours and kept.modified < before:
            yield sha256
