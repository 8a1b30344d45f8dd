"""What is on record, what has ended, and what somebody who left still sees."""

from __future__ import annotations

import dataclasses
import getpass
import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from apps.registry.models import ApiToken, AuditAction, AuditEntry, Scope, Session
from apps.registry.roles import Role
from apps.registry.services.bootstrap import load_groups
from apps.registry.services.members import set_member_roles
from apps.registry.services.projects import update_project
from apps.registry.services.tokens import create_token, revoke_token, use_token
from omni import config

pytestmark = pytest.mark.django_db


@pytest.mark.req("SEC-4")
def test_a_mailed_link_is_on_record(
    client: Client, user: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = dataclasses.replace(config.current(), email_url="smtp://mail")
    monkeypatch.setattr(config, "current", lambda: changed)
    client.post("/password/reset", {"email": user.email})
    client.post("/password/reset", {"email": "nobody@example.org"})
    assert len(mail.outbox) == 1
    entry = AuditEntry.objects.get(action=AuditAction.PASSWORD_LINK_MADE)
    assert (entry.target_id, entry.data) == (str(user.pk), {"sent": "mail"})


@pytest.mark.req("SEC-4")
def test_a_password_set_on_the_server_is_on_record(
    client: Client, user: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`changepassword` is ours: the same checks, other browsers signed out, an entry."""
    client.force_login(user)
    typed = iter(["short", "short", "staple-battery-7", "staple-battery-7"])
    monkeypatch.setattr(getpass, "getpass", lambda **_: next(typed))
    with pytest.raises(CommandError):
        call_command("changepassword", user.email, stdout=io.StringIO())
    call_command("changepassword", user.email.upper(), stdout=io.StringIO())
    user.refresh_from_db()
    assert user.check_password("staple-battery-7")
    entry = AuditEntry.objects.get(action=AuditAction.PASSWORD_CHANGED)
    assert (entry.actor, entry.actor_label, entry.target_id) == (None, "omni", str(user.pk))
    assert not Session.objects.exists()


@pytest.mark.req("SEC-2")
def test_what_administrators_made_of_a_group_stays(db: None) -> None:
    load_groups()
    group = Group.objects.get(name="Operators")
    assert group.permissions.filter(codename="change_user").exists()
    group.permissions.remove(group.permissions.get(codename="change_user"))
    load_groups()
    assert not group.permissions.filter(codename="change_user").exists()


@pytest.mark.req("SEC-1")
def test_a_session_says_when_it_was_last_used(client: Client, user: Any) -> None:
    """Noted at most once a minute: reading a page is not worth a write each."""
    client.force_login(user)
    long_ago = timezone.now() - timedelta(hours=3)
    Session.objects.update(seen_at=long_ago)
    client.get("/account/security")
    first = Session.objects.get().seen_at
    assert timezone.now() - first < timedelta(minutes=1)
    client.get("/account/security")
    assert Session.objects.get().seen_at == first


@pytest.mark.req("SEC-2")
def test_a_token_does_not_outlive_the_one_that_made_it(user: Any) -> None:
    parent, _ = create_token(user=user, name="parent", scopes=set(Scope), days=2)
    child, value = create_token(user=user, name="child", scopes={Scope.READ}, parent=parent)
    _, grandchild = create_token(user=user, name="third", scopes={Scope.READ}, parent=child)
    _, apart = create_token(user=user, name="apart", scopes={Scope.READ})
    assert child.expires_at <= parent.expires_at
    revoke_token(actor=user, token=parent)
    assert use_token(value) is None
    assert use_token(grandchild) is None
    assert use_token(apart) is not None
    assert AuditEntry.objects.filter(action=AuditAction.TOKEN_REVOKED).count() == 3


@pytest.mark.req("SEC-2")
def test_a_token_made_over_the_api_belongs_to_the_one_that_asked(user: Any) -> None:
    parent, value = create_token(user=user, name="parent", scopes=set(Scope), days=1)
    answer = Client().post(
        "/api/tokens",
        {"name": "child", "scopes": ["read"], "days": 300},
        content_type="application/json",
        headers={"Authorization": f"Bearer {value}"},
    )
    assert answer.status_code == 201
    child = ApiToken.objects.get(name="child")
    assert child.parent == parent
    assert child.expires_at == parent.expires_at


@pytest.fixture
def left(project: Any, user: Any, stranger: Any) -> Any:
    """`stranger` was an owner, did something, was removed; then the project got another name."""
    set_member_roles(actor=user, project=project, user=stranger, roles={Role.OWNER})
    update_project(actor=stranger, project=project, description="By Eve.")
    set_member_roles(actor=user, project=project, user=stranger, roles=set())
    return update_project(actor=user, project=project, name="Zeppelin")


@pytest.mark.req("SEC-2")
def test_who_left_a_project_learns_no_later_name(client: Client, stranger: Any, left: Any) -> None:
    client.force_login(stranger)
    entry = AuditEntry.objects.get(action=AuditAction.PROJECT_CHANGED, actor=stranger)
    for url in ("/", f"/activity/{entry.pk}"):
        page = client.get(url).content.decode()
        assert "a project you left" in page, url
        assert "Zeppelin" not in page, url


@pytest.mark.req("SEC-2")
def test_a_member_still_sees_the_name(client: Client, user: Any, left: Any) -> None:
    client.force_login(user)
    page = client.get("/").content.decode()
    assert "Zeppelin" in page
    assert "a project you left" not in page


@pytest.mark.req("SEC-2")
def test_an_answer_is_not_repeated_to_somebody_who_left(
    user: Any, stranger: Any, project: Any, make_user: Callable[..., Any]
) -> None:
    set_member_roles(actor=user, project=project, user=stranger, roles={Role.OWNER})
    _, value = create_token(user=stranger, name="t", scopes=set(Scope))
    headers = {"Authorization": f"Bearer {value}", "Idempotency-Key": "one"}
    ask = lambda: Client().post(  # noqa: E731
        f"/api/projects/{project.slug}/archive", content_type="application/json", headers=headers
    )
    assert [ask().status_code, ask().status_code] == [200, 200]
    set_member_roles(actor=user, project=project, user=stranger, roles=set())
    assert ask().status_code == 404


@pytest.mark.req("SEC-2")
def test_adding_a_member_twice_is_refused_as_in_the_api(
    client: Client, user: Any, stranger: Any, project: Any
) -> None:
    """Adding does not quietly give more roles to somebody who is a member already."""
    client.force_login(user)
    where = f"/projects/{project.slug}/members"
    first = client.post(where, {"email": stranger.email, "roles": ["viewer"]})
    again = client.post(where, {"email": stranger.email, "roles": ["owner"]})
    assert (first.status_code, again.status_code) == (302, 422)
    assert "is a member already" in again.content.decode()
    assert [row.role for row in stranger.memberships.filter(project=project)] == ["viewer"]
