"""Accounts as operators keep them: changed, switched off, unlocked, and removed while unused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from axes.models import AccessAttempt, AccessLog
from axes.utils import reset
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import ProtectedError

from apps.registry.lockout import account_limit, address_limit
from apps.registry.models import AuditAction, Membership, Session, User
from apps.registry.models.user import normalise_email
from apps.registry.roles import Role
from apps.registry.services import audit
from apps.registry.throttle import network_of
from apps.registry.validation import validated
from omni.contracts.errors import Conflict, PermissionDenied

RIGHTS = frozenset({"is_staff", "is_superuser", "groups"})
# So many latest sign-ins tell where a person works.
PLACES = 20


def require_keeper(actor: User | None, user: User) -> None:
    """Whoever changes or signs in as an operator has that operator's rights: administrators may."""
    if actor is None or actor == user or actor.is_superuser:
        return
    if user.is_staff or user.is_superuser:
        raise PermissionDenied(
            "Accounts of operators are kept by administrators.", remedy="Ask an administrator."
        )


def require_administrator(actor: User | None) -> None:
    if actor is not None and not actor.is_superuser:
        raise PermissionDenied(
            "Only administrators decide who is an operator or in which group.",
            remedy="Ask an administrator.",
        )


@transaction.atomic
def update_person(
    *,
    actor: User,
    user: User,
    email: str | None = None,
    name: str | None = None,
    time_zone: str | None = None,
    is_active: bool | None = None,
    is_staff: bool | None = None,
    is_superuser: bool | None = None,
    groups: Iterable[Group] | None = None,
) -> User:
    """Change what is given; switching an account off also ends its sessions."""
    require_keeper(actor, user)
    # Locking every administrator orders concurrent changes, so that one always remains.
    administrators = list(_administrators().select_for_update())
    user = User.objects.select_for_update().get(pk=user.pk)
    wanted = {
        "email": email.strip().lower() if email is not None else None,
        "name": name,
        "time_zone": time_zone,
        "is_active": is_active,
        "is_staff": is_staff,
        "is_superuser": is_superuser,
    }
    changed = _assign(user, wanted)
    fields = list(changed)
    if groups is not None:
        changed |= _group_change(user, set(groups))
    if not changed:
        return user
    if RIGHTS & changed.keys():
        require_administrator(actor)
    if user == actor and not (user.is_active and user.is_staff):
        raise Conflict("You cannot lock yourself out.", remedy="Ask another administrator.")
    if user in administrators and not (user.is_superuser and user.is_active):
        _refuse_last_administrator(administrators)
    validated(user)
    user.save(update_fields=fields)
    if groups is not None:
        user.groups.set(groups)
    if not user.is_active:
        Session.objects.filter(user=user).delete()
    audit.record(AuditAction.USER_CHANGED, actor=actor, target=user, data=changed)
    return user


@transaction.atomic
def delete_person(*, actor: User, user: User) -> None:
    """Remove an account that never did anything; others are switched off instead."""
    require_keeper(actor, user)
    owned = Membership.objects.filter(user=user, role=Role.OWNER).values("project")
    others = Membership.objects.filter(role=Role.OWNER, project__in=owned).exclude(user=user)
    if owned.exclude(project__in=others.values("project")).exists():
        raise Conflict(
            f"{user} is the only owner of a project.", remedy="Make somebody else an owner first."
        )
    label, key = user.email, str(user.pk)
    try:
        with transaction.atomic():
            user.delete()
    except ProtectedError:
        raise Conflict(
            f"{user} has used the platform, and its records refer to them.",
            remedy="Switch the account off instead.",
        ) from None
    audit.record(
        AuditAction.ADMIN_CHANGED,
        actor=actor,
        target_label=label,
        data={"deleted": "user", "id": key},
    )


@transaction.atomic
def unlock_sign_in(*, actor: User | None, email: str, ip_address: str | None = None) -> int:
    """Forget wrong passwords for an account, from one address or all; answers how much was lifted.

    The limits of the addresses are lifted as well, because one may be all that stops the person.
    Without an actor it is done on the server.
    """
    attempts = AccessAttempt.objects.filter(username__iexact=email)
    if ip_address:
        attempts = attempts.filter(ip_address=ip_address)
    pairs = list(attempts.values_list("username", "ip_address").distinct().order_by())
    count = sum(int(reset(username=username, ip=ip)) for username, ip in pairs)
    addresses = {ip_address} if ip_address else {ip for _, ip in pairs} | _places_of(email)
    lifted = [address for address in sorted(filter(None, addresses)) if _lift(address)]
    count += account_limit().forget(normalise_email(email)) + len(lifted)
    if count:
        audit.record(
            AuditAction.ADMIN_CHANGED,
            actor=actor,
            actor_label="" if actor else "omni",
            target_label=email if "@" in email else "",
            data={"unlocked": count, "ip_address": ip_address, "addresses": lifted},
        )
    return count


def _places_of(email: str) -> set[str | None]:
    """Where the person is or lately was signed in: their office, whoever guessed from there."""
    sessions = Session.objects.filter(user__email=normalise_email(email))
    lately = AccessLog.objects.filter(username__iexact=email).order_by("-attempt_time")
    return {
        *sessions.values_list("ip_address", flat=True),
        *lately.values_list("ip_address", flat=True)[:PLACES],
    }


def _lift(address: str) -> bool:
    return address_limit().forget(network_of(address))


@transaction.atomic
def end_session(*, actor: User, session: Session) -> None:
    """Sign one browser out."""
    session.delete()
    audit.record(AuditAction.SESSIONS_ENDED, actor=actor, target=session.user, data={"sessions": 1})


def _assign(user: User, wanted: dict[str, Any]) -> dict[str, Any]:
    changed = {}
    for field, value in wanted.items():
        if value is not None and value != getattr(user, field):
            changed[field] = {"from": getattr(user, field), "to": value}
            setattr(user, field, value)
    return changed


def _group_change(user: User, groups: set[Group]) -> dict[str, Any]:
    before = set(user.groups.all())
    if before == groups:
        return {}
    return {
        "groups": {
            "from": sorted(group.name for group in before),
            "to": sorted(group.name for group in groups),
        }
    }


def _administrators() -> Any:
    return User.objects.filter(is_superuser=True, is_active=True).order_by("pk")


def _refuse_last_administrator(administrators: list[User]) -> None:
    if len(administrators) == 1:
        raise Conflict(
            "The platform needs an administrator, and this is the last one.",
            remedy="Make somebody else an administrator first.",
        )
