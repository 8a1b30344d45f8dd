"""Browser sessions that know whose they are, so that a person can see and end them."""

from __future__ import annotations

from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models


class Session(AbstractBaseSession):
    """One signed-in (or not yet signed-in) browser."""

    user = models.ForeignKey(
        "registry.User", on_delete=models.CASCADE, null=True, related_name="sessions"
    )
    ip_address = models.GenericIPAddressField(null=True)
    user_agent = models.CharField(max_length=200, blank=True)
    signed_in_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(auto_now=True)

    class Meta(AbstractBaseSession.Meta):
        abstract = False
        ordering = ("-seen_at",)

    def __str__(self) -> str:
        # Never the key: whoever has it is signed in.
        return f"Session of {self.user or 'nobody'}"

    @classmethod
    def get_session_store_class(cls) -> type:
        from apps.registry.sessions import SessionStore

        return SessionStore
