"""Answers that were given under an Idempotency-Key, kept sealed for as long as the key counts.

Both functions belong into the transaction that does the work, so a crash leaves both or neither.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from apps.registry.models import IdempotencyRecord, User
from omni import config, keyring
from omni.contracts.errors import Conflict, ErrorCategory, OmniError


def claim_key(*, user: User, key: str, request_hash: str) -> tuple[int, str] | None:
    """Take the key for this transaction; the status and answer given before, if there are any."""
    _lock(user, key)
    known = IdempotencyRecord.objects.filter(user=user, key=key).first()
    if known is None:
        return None
    if known.created_at < timezone.now() - timedelta(hours=config.current().idempotency_hours):
        known.delete()
        return None
    if known.request_hash != request_hash:
        raise OmniError(
            "This Idempotency-Key belongs to another request.",
            category=ErrorCategory.IDEMPOTENCY_MISMATCH,
            remedy="Use a new key for a new request.",
        )
    return known.status or 200, _opened(known)


def keep_answer(*, user: User, key: str, request_hash: str, status: int, answer: str) -> None:
    IdempotencyRecord.objects.create(
        user=user,
        key=key,
        request_hash=request_hash,
        status=status,
        body=keyring.current().encrypt(answer),
    )


def _lock(user: User, key: str) -> None:
    """Held until the transaction ends, also when this process dies in the middle."""
    digest = hashlib.blake2b(f"{user.pk}:{key}".encode(), digest_size=8).digest()
    with connection.cursor() as cursor:
        number = int.from_bytes(digest, "big", signed=True)
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [number])
        if not cursor.fetchone()[0]:
            raise Conflict(
                "A request with this Idempotency-Key is still at work.",
                remedy="Repeat it in a moment to get its answer.",
                data={"retry_after": 1},
            )


def _opened(record: IdempotencyRecord) -> str:
    try:
        return keyring.current().decrypt(bytes(record.body)).decode()
    except OmniError:
        raise Conflict(
            "This was done already, but its answer was sealed with a key that is gone.",
            remedy="Look at what exists, and use a new Idempotency-Key.",
        ) from None
