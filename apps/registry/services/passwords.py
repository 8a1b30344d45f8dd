"""A person's own password: checked, set, and everybody who knew the old one signed out."""

from __future__ import annotations

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from apps.registry.models import AuditAction, Session, User
from apps.registry.services import audit
from apps.registry.validation import invalid_input


@transaction.atomic
def change_password(
    *, user: User, password: str, keep_session: str | None = None, on_the_server: bool = False
) -> int:
    """Set `user`'s password and end their other sessions; answers how many ended.

    `on_the_server` says that somebody with a shell there did it, and not the person.
    """
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise invalid_input(ValidationError({"new_password1": error.messages})) from None
    user.set_password(password)
    user.save(update_fields=["password"])
    ended, _ = Session.objects.filter(user=user).exclude(session_key=keep_session).delete()
    audit.record(
        AuditAction.PASSWORD_CHANGED,
        actor=None if on_the_server else user,
        actor_label="omni" if on_the_server else "",
        target=user,
        data={"sessions_ended": ended},
    )
    return ended


def record_guessing(*, user: User) -> None:
    """Too many wrong present passwords in a signed-in browser, which may not be its owner's."""
    data = {"limit": "present-password"}
    audit.record(AuditAction.SIGN_IN_LOCKED, actor=user, target=user, allowed=False, data=data)
