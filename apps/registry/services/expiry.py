"""Removes what time has made useless."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from apps.registry.models import IdempotencyRecord, Session
from omni import config


def remove_expired() -> dict[str, int]:
    now = timezone.now()
    sessions, _ = Session.objects.filter(expire_date__lt=now).delete()
    oldest = now - timedelta(hours=config.current().idempotency_hours)
    answers, _ = IdempotencyRecord.objects.filter(created_at__lt=oldest).delete()
    return {"sessions": sessions, "idempotency_records": answers}
