"""Removes stored bytes that nothing refers to any more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

from django.core.files.storage import storages
from django.db import connection, transaction
from django.utils import timezone

from apps.runs.models import Artifact
from apps.runs.services.artifacts import location, lock_number
from apps.runs.storage import INCOMING

GRACE = timedelta(hours=1)
_NAME = re.compile(r"[0-9a-f]{64}")


def collect_garbage(*, grace: timedelta = GRACE) -> int:
    """Only what is old, named by a hash, and in no run; whoever is storing it now keeps it."""
    stale = timezone.now() - grace
    store = storages["artifacts"]
    removed = 0
    for sha256 in _stored():
        if store.get_modified_time(location(sha256)) < stale:
            removed += _remove(sha256)
    return removed + _drop_unfinished()


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
    storages["artifacts"].delete(location(sha256))
    return True


def _stored() -> Iterator[str]:
    store = storages["artifacts"]
    if not store.exists(""):
        return
    for first in store.listdir("")[0]:
        if first == INCOMING:
            continue
        for second in store.listdir(first)[0]:
            yield from filter(_NAME.fullmatch, store.listdir(f"{first}/{second}")[1])


def _drop_unfinished() -> int:
    """What a process left that died while it was writing."""
    store = storages["artifacts"]
    if not store.exists(INCOMING):
        return 0
    removed, stale = 0, timezone.now() - GRACE
    for name in (f"{INCOMING}/{each}" for each in store.listdir(INCOMING)[1]):
        # It may have been renamed meanwhile: then it is finished.
        if store.exists(name) and store.get_modified_time(name) < stale:
            store.delete(name)
            removed += 1
    return removed
