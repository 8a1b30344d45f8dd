"""People: added by operators, who hand out links to set a password."""

from __future__ import annotations

import secrets
import string

from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from apps.registry.models import AuditAction, Session, User
from apps.registry.services import audit
from apps.registry.services.accounts import require_administrator, require_keeper
from apps.registry.validation import invalid_input, validated
from omni import config
from omni.contracts.errors import Conflict

# Without the look-alikes 0/O and 1/l/I: this password is read from a terminal once.
_ALPHABET = "".join(c for c in string.ascii_letters + string.digits if c not in "0O1lI")


def generate_password() -> str:
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(5)) for _ in range(4))


@transaction.atomic
def create_user(
    *,
    actor: User | None,
    email: str,
    name: str = "",
    is_staff: bool = False,
    is_superuser: bool = False,
    password: str | None = None,
) -> User:
    """Add a person; without a password they need a link from `make_password_link`."""
    if is_staff or is_superuser:
        require_administrator(actor)
    user = User(email=email, name=name, is_staff=is_staff, is_superuser=is_superuser)
    user.clean()
    if password is not None:
        try:
            validate_password(password, user)
        except ValidationError as error:
            raise invalid_input(ValidationError({"password": error.messages})) from None
    user.set_password(password)
    validated(user, unique=False)
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError:
        raise Conflict(
            f"There is already a person with the address {user.email}.",
            data={"errors": {"email": ["This address is taken."]}},
        ) from None
    audit.record(
        AuditAction.USER_CREATED,
        actor=actor,
        actor_label="" if actor else "omni",
        target=user,
        data={"operator": is_staff, "administrator": is_superuser},
    )
    return user


def make_password_link(*, actor: User | None, user: User) -> str:
    """A link with which `user` sets a password, good for three days and for one use."""
    require_keeper(actor, user)
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    token = default_token_generator.make_token(user)
    audit.record(
        AuditAction.PASSWORD_LINK_MADE,
        actor=actor,
        actor_label="" if actor else "omni",
        target=user,
    )
    return config.current().base_url + reverse(
        "registry:password_set", kwargs={"uidb64": uid, "token": token}
    )


def record_mailed_link(*, user: User) -> None:
    """Somebody without a sign-in asked for a link, and it went to the person's own address."""
    audit.record(
        AuditAction.PASSWORD_LINK_MADE, actor_label="omni", target=user, data={"sent": "mail"}
    )


@transaction.atomic
def update_profile(*, actor: User, name: str | None = None, time_zone: str | None = None) -> User:
    changed = {}
    for field, value in (("name", name), ("time_zone", time_zone)):
        if value is not None and value != getattr(actor, field):
            changed[field] = {"from": getattr(actor, field), "to": value}
            setattr(actor, field, value)
    if changed:
        validated(actor)
        actor.save(update_fields=list(changed))
        audit.record(AuditAction.USER_CHANGED, actor=actor, target=actor, data=changed)
    return actor


@transaction.atomic
def end_other_sessions(*, actor: User, keep: str | None) -> int:
    """Sign a person out everywhere but here; answers how many sessions ended."""
    count, _ = Session.objects.filter(user=actor).exclude(session_key=keep).delete()
    audit.record(AuditAction.SESSIONS_ENDED, actor=actor, target=actor, data={"sessions": count})
    return count
