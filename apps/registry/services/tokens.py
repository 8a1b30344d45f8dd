"""API tokens: made, shown once, checked, revoked."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.registry.models import ApiToken, AuditAction, Scope, User
from apps.registry.services import audit
from apps.registry.validation import validated
from omni import config
from omni.contracts.errors import InvalidInput, PermissionDenied

PREFIX = "omni_"
# A token in steady use would otherwise write a row per request.
LAST_USED_STEP = timedelta(minutes=1)


def digest(token: str) -> str:
    """Tokens have 190 random bits, so a plain hash cannot be reversed and stays fast."""
    return hashlib.sha256(token.encode()).hexdigest()


@transaction.atomic
def create_token(
    *, user: User, name: str, scopes: set[Scope], days: int = 90, parent: ApiToken | None = None
) -> tuple[ApiToken, str]:
    """Make a token; the second value is the token itself, which nobody can read again.

    One that is made with another token, its `parent`, ends at the latest when that one does.
    """
    if parent is not None:
        # Waits for a revocation that is under way, which would not see this child.
        parent = ApiToken.objects.select_for_update().get(pk=parent.pk)
        if not parent.is_usable:
            raise PermissionDenied("The token that asks for this has just ended.")
    longest = config.current().token_max_days
    if not 1 <= days <= longest:
        raise InvalidInput.field("days", f"Choose between 1 and {longest} days.")
    if not scopes:
        raise InvalidInput.field("scopes", "Choose at least one scope.")
    value = f"{PREFIX}{secrets.token_urlsafe(24)}"
    token = ApiToken(
        user=user,
        name=name,
        prefix=value[:10],
        digest=digest(value),
        scopes=sorted(scopes),
        expires_at=timezone.now() + timedelta(days=days),
        parent=parent,
    )
    if parent is not None:
        token.expires_at = min(token.expires_at, parent.expires_at)
    validated(token)
    token.save(force_insert=True)
    audit.record(
        AuditAction.TOKEN_CREATED,
        actor=user,
        target=token,
        data={"scopes": sorted(scopes), "expires_at": token.expires_at},
    )
    return token, value


@transaction.atomic
def revoke_token(*, actor: User, token: ApiToken) -> ApiToken:
    """End a token and all that were made with it at once; revoking it twice is harmless."""
    token = ApiToken.objects.select_for_update().get(pk=token.pk)
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        audit.record(AuditAction.TOKEN_REVOKED, actor=actor, target=token)
        for child in token.children.filter(revoked_at=None):
            revoke_token(actor=actor, token=child)
    return token


def use_token(value: str) -> ApiToken | None:
    """The usable token with this value, its use noted; None for anything else."""
    token = ApiToken.objects.select_related("user").filter(digest=digest(value)).first()
    if token is None or not token.is_usable or not token.user.is_active:
        return None
    now = timezone.now()
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_STEP)
    ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)
    return token
