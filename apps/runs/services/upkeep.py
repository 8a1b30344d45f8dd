"""Removes what has expired: sessions, idempotency keys, workers, attempts, unused bytes."""

from __future__ import annotations

import structlog
from axes.handlers.proxy import AxesProxyHandler

from apps.registry.services.expiry import remove_expired
from apps.runs.services.collection import collect_garbage
from apps.runs.services.workers import forget_old_workers
from omni.contracts.errors import Unavailable

log = structlog.get_logger(__name__)


def clean_up() -> dict[str, int]:
    removed = remove_expired() | {"workers": forget_old_workers()}
    removed["sign_in_attempts"] = AxesProxyHandler.reset_logs(age_days=90)
    try:
        removed["artifacts"] = collect_garbage()
    except Unavailable as error:
        # What is left lies there until the next hour.
        log.warning("artifacts_not_collected", error=str(error))
    log.info("cleaned_up", **removed)
    return removed
