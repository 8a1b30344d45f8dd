"""Django's database sessions, kept in our own table (`SESSION_ENGINE`)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from apps.registry.models.session import Session

IP_KEY = "omni_ip"
AGENT_KEY = "omni_agent"
SIGNED_IN_KEY = "omni_signed_in"
# A session in steady use would otherwise write a row per request.
SEEN_STEP = timedelta(minutes=1)


class SessionStore(DatabaseStore):
    cache_key_prefix = "omni.session."

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def _get_session_from_db(self) -> Session | None:
        """The row is read anyway; this alone knows without another query when it was last used."""
        found: Session | None = super()._get_session_from_db()  # type: ignore[misc]
        if found is not None and found.seen_at < timezone.now() - SEEN_STEP:
            Session.objects.filter(pk=found.pk).update(seen_at=timezone.now())
        return found

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        instance = super().create_model_instance(data)
        assert isinstance(instance, Session)  # noqa: S101  (the model named above)
        instance.user_id = data.get(SESSION_KEY)
        instance.ip_address = data.get(IP_KEY)
        instance.user_agent = str(data.get(AGENT_KEY, ""))[:200]
        instance.signed_in_at = parse_datetime(str(data.get(SIGNED_IN_KEY, "")))
        return instance
