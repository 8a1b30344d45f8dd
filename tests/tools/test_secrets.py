"""Secrets are encrypted at rest, write-only, referred to by name, and can be sealed anew."""

from __future__ import annotations

import pytest

from apps.registry.models import AuditAction, AuditEntry, Project, User
from apps.registry.roles import Role
from apps.registry.services.members import set_member_roles
from apps.tools.models import Secret
from apps.tools.selectors import secrets_of
from apps.tools.services.secrets import (
    delete_secret,
    reseal_secrets,
    resolve_secret,
    set_secret,
)
from omni import keyring
from omni.contracts.errors import InvalidInput, NotFound, OmniError, PermissionDenied
from omni.telemetry.redaction import redact

VALUE = "s3cr3t-value-for-tests"


@pytest.mark.req("SEC-3")
def test_a_secret_is_encrypted_at_rest_and_resolved_by_reference(
    project: Project, user: User
) -> None:
    secret, created = set_secret(actor=user, project=project, name="api.key", value=VALUE)
    assert created
    assert VALUE.encode() not in bytes(secret.ciphertext)
    assert VALUE not in str(list(Secret.objects.values())) + str(list(AuditEntry.objects.values()))
    assert resolve_secret("secret://api.key", project=project) == VALUE
    _, created = set_secret(actor=user, project=project, name="api.key", value="another-value")
    assert not created
    assert resolve_secret("secret://api.key", project=project) == "another-value"


@pytest.mark.req("SEC-3")
def test_a_value_once_seen_is_redacted_everywhere(project: Project, user: User) -> None:
    set_secret(actor=user, project=project, name="k", value="zebra-crossing-1234")
    assert "zebra" not in str(redact({"note": "it is zebra-crossing-1234, really"}))


@pytest.mark.req("SEC-3")
def test_a_projects_own_secret_wins_over_the_platforms(
    project: Project, user: User, administrator: User
) -> None:
    set_secret(actor=administrator, project=None, name="shared", value="platform-value")
    assert resolve_secret("secret://shared", project=project) == "platform-value"
    set_secret(actor=user, project=project, name="shared", value="project-value")
    assert resolve_secret("secret://shared", project=project) == "project-value"


@pytest.mark.req("SEC-2")
def test_who_may_set_and_who_may_know(project: Project, user: User, stranger: User) -> None:
    with pytest.raises(NotFound):
        set_secret(actor=stranger, project=project, name="k", value=VALUE)
    with pytest.raises(PermissionDenied):
        set_secret(actor=user, project=None, name="k", value=VALUE)
    set_member_roles(actor=user, project=project, user=stranger, roles={Role.VIEWER})
    with pytest.raises(PermissionDenied):
        set_secret(actor=stranger, project=project, name="k", value=VALUE)
    assert Secret.objects.count() == 0
    set_secret(actor=user, project=project, name="k", value=VALUE)
    assert [s.name for s in secrets_of(stranger, project)] == ["k"]


@pytest.mark.req("SEC-3")
def test_one_projects_secret_is_no_other_projects(
    project: Project, user: User, stranger: User
) -> None:
    from apps.registry.services.projects import create_project

    other = create_project(actor=stranger, name="Other")
    set_secret(actor=user, project=project, name="k", value=VALUE)
    with pytest.raises(NotFound):
        resolve_secret("secret://k", project=other)


@pytest.mark.req("SEC-3")
def test_rotation_seals_every_secret_with_the_new_key(project: Project, user: User) -> None:
    set_secret(actor=user, project=project, name="k", value=VALUE)
    before = Secret.objects.get()
    ring = keyring.current()
    ring.add_key()
    assert reseal_secrets(actor=user) == 1
    after = Secret.objects.get()
    assert after.key_id == ring.primary_id != before.key_id
    ring.drop_old_keys()
    assert resolve_secret("secret://k", project=project) == VALUE
    assert reseal_secrets(actor=user) == 0
    assert AuditEntry.objects.filter(action=AuditAction.SECRET_KEYS_ROTATED).count() == 2


@pytest.mark.req("SEC-3")
def test_rotation_trusts_the_ciphertext_and_not_the_label(project: Project, user: User) -> None:
    """A row that names the new key but was sealed by the old one is sealed anew, not lost."""
    set_secret(actor=user, project=project, name="k", value=VALUE)
    ring = keyring.current()
    Secret.objects.update(key_id=ring.add_key())
    assert reseal_secrets(actor=user) == 1
    ring.drop_old_keys()
    assert resolve_secret("secret://k", project=project) == VALUE


@pytest.mark.req("SEC-3")
def test_rotation_stops_at_a_secret_that_no_key_opens(project: Project, user: User) -> None:
    """It is named, nothing is changed, and so no key is dropped."""
    set_secret(actor=user, project=project, name="good", value=VALUE)
    set_secret(actor=user, project=project, name="broken", value=VALUE)
    Secret.objects.filter(name="broken").update(ciphertext=b"damaged")
    before = set(Secret.objects.values_list("name", "key_id"))
    keyring.current().add_key()
    with pytest.raises(OmniError, match="broken cannot be opened"):
        reseal_secrets(actor=user)
    assert set(Secret.objects.values_list("name", "key_id")) == before


@pytest.mark.req("SEC-3")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("", VALUE),
        ("1st", VALUE),
        ("a b", VALUE),
        ("x" * 65, VALUE),
        ("k", ""),
        ("k", "x" * 70_000),
    ],
)
def test_a_bad_secret_is_refused_without_repeating_it(
    project: Project, user: User, name: str, value: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        set_secret(actor=user, project=project, name=name, value=value)
    assert not value or value not in str(caught.value)
    assert Secret.objects.count() == 0


@pytest.mark.req("SEC-3")
def test_deleting(project: Project, user: User) -> None:
    set_secret(actor=user, project=project, name="k", value=VALUE)
    delete_secret(actor=user, project=project, name="k")
    with pytest.raises(NotFound):
        delete_secret(actor=user, project=project, name="k")
    with pytest.raises(NotFound):
        resolve_secret("secret://k", project=project)
