"""Secrets: set, deleted, resolved by reference, sealed anew when keys rotate."""

from __future__ import annotations

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from apps.registry.models import AuditAction, Project, User
from apps.registry.permissions import require, require_operator
from apps.registry.roles import Permission
from apps.registry.services import audit
from apps.registry.validation import validated
from apps.tools.models import Secret
from omni import keyring
from omni.contracts.errors import Conflict, InvalidInput, NotFound, OmniError, PermissionDenied
from omni.telemetry.redaction import register_secret

MAX_BYTES = 64 * 1024
SCHEME = "secret://"


@transaction.atomic
def set_secret(
    *,
    actor: User,
    project: Project | None,
    name: str,
    value: str,
    description: str | None = None,
    as_operator: bool = False,
) -> tuple[Secret, bool]:
    """Store or replace a secret; the second value says whether it is new."""
    _require_manager(actor, project, as_operator=as_operator)
    if not value:
        raise InvalidInput.field("value", "A secret cannot be empty.")
    if len(value.encode()) > MAX_BYTES:
        raise InvalidInput.field("value", f"A secret has at most {MAX_BYTES} bytes.")
    register_secret(value)
    secret = Secret.objects.select_for_update().filter(project=project, name=name).first()
    created = secret is None
    if secret is None:
        secret = Secret(project=project, name=name)
    secret.ciphertext, secret.key_id = keyring.current().seal(value)
    secret.set_by = actor
    if description is not None:
        secret.description = description
    validated(secret, unique=False)
    try:
        with transaction.atomic():
            secret.save()
    except IntegrityError:
        raise Conflict(
            f"Somebody else has just set {name}.", remedy="Look at it, then set it again."
        ) from None
    audit.record(
        AuditAction.SECRET_SET,
        actor=actor,
        project=project,
        target=secret,
        data={"replaced": not created} | audit.operator_mark(as_operator),
    )
    return secret, created


@transaction.atomic
def delete_secret(
    *, actor: User, project: Project | None, name: str, as_operator: bool = False
) -> None:
    _require_manager(actor, project, as_operator=as_operator)
    secret = Secret.objects.select_for_update().filter(project=project, name=name).first()
    if secret is None:
        raise NotFound(f"There is no secret named {name}.")
    audit.record(
        AuditAction.SECRET_DELETED,
        actor=actor,
        project=project,
        target=secret,
        data=audit.operator_mark(as_operator),
    )
    secret.delete()


def resolve_secret(reference: str, *, project: Project | None) -> str:
    """The value behind `secret://name`, for an executor's last step; the project's own wins."""
    name = reference.removeprefix(SCHEME)
    rows = Secret.objects.filter(name=name, project=project)
    secret = rows.first() or Secret.objects.filter(name=name, project=None).first()
    if not reference.startswith(SCHEME) or secret is None:
        raise NotFound(f"There is no secret named {name}.", remedy="Set it in the project first.")
    value = keyring.current().decrypt(bytes(secret.ciphertext)).decode()
    register_secret(value)
    Secret.objects.filter(pk=secret.pk).update(last_used_at=timezone.now())
    return value


@transaction.atomic
def reseal_secrets(*, actor: User | None) -> int:
    """Encrypt every secret with the newest key; answers how many were resealed.

    When it returns, that key alone opens every row, so older ones may be dropped. Answers kept for
    an Idempotency-Key stay as they are: repeating such a request says that its answer is gone.
    """
    with connection.cursor() as cursor:
        # Waits for whoever has sealed with an older key and not committed yet: `set_secret` seals
        # after its SELECT … FOR UPDATE, whose lock on the table conflicts with this one.
        cursor.execute("LOCK TABLE tools_secret IN EXCLUSIVE MODE")
    keys = keyring.current().now()
    resealed = sum(_reseal(secret, keys) for secret in Secret.objects.select_for_update())
    audit.record(
        AuditAction.SECRET_KEYS_ROTATED,
        actor=actor,
        actor_label="" if actor else "omni",
        data={"resealed": resealed, "key_id": keys.primary_id},
    )
    return resealed


def _reseal(secret: Secret, keys: keyring.Keys) -> bool:
    """Judged by the ciphertext: what a row says about its key is no proof."""
    if secret.key_id == keys.primary_id and keys.is_sealed_by_primary(bytes(secret.ciphertext)):
        return False
    try:
        secret.ciphertext = keys.reseal(bytes(secret.ciphertext))
    except OmniError as error:
        raise OmniError(
            f"The secret {secret.name} cannot be opened with any key; nothing was changed.",
            category=error.category,
            remedy="Bring back the key that sealed it, enter the secret again, or delete it.",
        ) from None
    secret.key_id = keys.primary_id
    secret.save(update_fields=["ciphertext", "key_id"])
    return True


def _require_manager(actor: User, project: Project | None, *, as_operator: bool = False) -> None:
    if as_operator:
        require_operator(actor, "tools.change_secret")
    elif project is not None:
        require(actor, Permission.MANAGE_SECRETS, project)
    elif not (actor.is_staff and actor.has_perm("tools.change_secret")):
        raise PermissionDenied(
            "Secrets of the whole platform are set by operators.",
            remedy="Set it in a project instead, or ask an operator.",
        )
