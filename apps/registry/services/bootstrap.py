"""What a new installation needs before anybody can use it."""

from __future__ import annotations

import os
from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db import connection, transaction

from apps.registry.models import ApiToken, Scope, User
from apps.registry.services.members import refresh_permissions
from apps.registry.services.people import create_user, generate_password
from apps.registry.services.tokens import create_token, digest
from omni import config

# Platform-wide groups: what staff may do in the admin console. Projects have roles instead.
GROUPS: dict[str, tuple[str, ...]] = {
    "Operators": ("view", "add", "change", "delete"),
    "Auditors": ("view",),
}
MANAGED_APPS = ("registry", "tools", "memory", "runs", "axes", "django_celery_beat")
CLI_TOKEN = "Command line on this machine"  # noqa: S105  (the name of a token)
_LOCK = 0x6F6D6E69


@transaction.atomic
def bootstrap() -> dict[str, Any]:
    """Idempotent and safe when two starts meet; the password is in the answer only once."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
    load_groups()
    refresh_permissions()
    admin, password = _administrator()
    if admin is not None:
        _write_cli_token(admin)
    email = admin.email if admin else config.current().admin_email
    return {"admin_email": email, "admin_password": password}


def load_groups() -> None:
    """Make the groups that are missing; what an administrator made of them since is theirs."""
    for name, verbs in GROUPS.items():
        group, is_new = Group.objects.get_or_create(name=name)
        if not is_new:
            continue
        wanted = Permission.objects.filter(content_type__app_label__in=MANAGED_APPS)
        group.permissions.set([p for p in wanted if p.codename.split("_")[0] in verbs])


def _administrator() -> tuple[User | None, str | None]:
    existing = (
        User.objects.filter(is_superuser=True, is_active=True).order_by("date_joined").first()
    )
    if existing is not None:
        return existing, None
    password = generate_password()
    email = config.current().admin_email
    admin = create_user(
        actor=None,
        email=email,
        name="Administrator",
        is_staff=True,
        is_superuser=True,
        password=password,
    )
    return admin, password


def _write_cli_token(admin: User) -> None:
    """The token that `omni` on this machine uses; whoever can read the file owns the platform."""
    path = config.current().key_dir / "cli.token"
    try:
        known = ApiToken.objects.filter(digest=digest(path.read_text().strip())).first()
    except OSError:
        known = None
    if known is not None and known.is_usable:
        return
    days = config.current().token_max_days
    _, value = create_token(user=admin, name=CLI_TOKEN, scopes=set(Scope), days=days)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(value)
    fresh.replace(path)
