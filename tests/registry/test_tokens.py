"""API tokens are shown once, kept as a digest, and end when they should."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.registry.models import ApiToken, AuditAction, AuditEntry, Scope, User
from apps.registry.services.tokens import create_token, revoke_token, use_token
from omni.contracts.errors import InvalidInput


@pytest.mark.req("SEC-3")
def test_a_token_is_kept_as_a_digest_only(user: User) -> None:
    token, value = create_token(user=user, name="importer", scopes={Scope.READ})
    row = ApiToken.objects.filter(pk=token.pk).values().get()
    assert value not in str(row)
    assert value.startswith(row["prefix"])
    assert value not in str(list(AuditEntry.objects.values()))
    assert use_token(value) == token


@pytest.mark.req("SEC-2")
def test_a_token_ends_when_revoked_expired_or_its_owner_is_switched_off(user: User) -> None:
    token, value = create_token(user=user, name="a", scopes={Scope.READ})
    revoke_token(actor=user, token=token)
    revoke_token(actor=user, token=token)
    assert use_token(value) is None
    assert AuditEntry.objects.filter(action=AuditAction.TOKEN_REVOKED).count() == 1

    token, value = create_token(user=user, name="b", scopes={Scope.READ})
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert use_token(value) is None

    _, value = create_token(user=user, name="c", scopes={Scope.READ})
    user.is_active = False
    user.save()
    assert use_token(value) is None
    assert use_token("omni_nonsense") is None


@pytest.mark.req("SEC-2")
def test_use_is_noted_but_not_on_every_request(user: User) -> None:
    token, value = create_token(user=user, name="a", scopes={Scope.READ})
    use_token(value)
    token.refresh_from_db()
    first = token.last_used_at
    assert first is not None
    use_token(value)
    token.refresh_from_db()
    assert token.last_used_at == first


@pytest.mark.req("SEC-2")
@pytest.mark.parametrize(
    "fields",
    [
        {"name": "", "scopes": {Scope.READ}},
        {"name": "x" * 81, "scopes": {Scope.READ}},
        {"name": "ok", "scopes": set()},
        {"name": "ok", "scopes": {Scope.READ}, "days": 0},
        {"name": "ok", "scopes": {Scope.READ}, "days": 100_000},
    ],
)
def test_a_bad_token_is_refused(user: User, fields: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        create_token(user=user, **fields)  # type: ignore[arg-type]
    assert ApiToken.objects.count() == 0
