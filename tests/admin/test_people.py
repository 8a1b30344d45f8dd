"""What operators do with accounts, and what only administrators may do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

pytestmark = [pytest.mark.req("ADM-1"), pytest.mark.req("SEC-2"), pytest.mark.django_db]

LIST = "/admin/registry/user/"
KEEPER = ("registry.view_user", "registry.add_user", "registry.change_user", "registry.delete_user")


def run(client: Client, action: str, *people: Any) -> Any:
    chosen = {"action": action, "_selected_action": [str(each.pk) for each in people]}
    return client.post(LIST, chosen, follow=True)


def said(answer: Any) -> str:
    return " ".join(str(message) for message in answer.context["messages"])


def change(user: Any) -> str:
    return reverse("admin:registry_user_change", args=[user.pk])


def form_of(user: Any, **changes: Any) -> dict[str, Any]:
    """What the browser sends for a person's form."""
    data = {"email": user.email, "name": user.name, "time_zone": user.time_zone}
    data |= {"memberships-TOTAL_FORMS": "0", "memberships-INITIAL_FORMS": "0"}
    for flag in ("is_active", "is_staff", "is_superuser"):
        if getattr(user, flag):
            data[flag] = "on"
    return {key: value for key, value in {**data, **changes}.items() if value is not None}


def actions_of_log(user: Any) -> list[str]:
    from apps.registry.models import AuditEntry

    return list(AuditEntry.objects.filter(target_id=str(user.pk)).values_list("action", flat=True))


def test_a_person_is_added_without_a_password_and_gets_a_link(console: Client) -> None:
    """Adding leads to the page that makes a link; it is shown once and sets a password."""
    from apps.registry.models import User

    added = console.post(f"{LIST}add/", {"email": "New@Example.org", "name": "New"})
    user = User.objects.get(email="new@example.org")
    assert not user.has_usable_password()
    offered = reverse("admin:registry_user_password_link", args=[user.pk])
    assert added["Location"] == offered
    assert "password_link_made" not in actions_of_log(user)
    assert "/password/" not in console.get(offered).content.decode()
    shown = console.post(offered)
    assert re.search(r'value="https?://[^"]+/password/', shown.content.decode())
    assert actions_of_log(user) == ["password_link_made", "user_created"]
    assert "/password/" not in console.get(change(user)).content.decode()


def test_links_are_made_for_several_at_once(console: Client, make_user: Callable[..., Any]) -> None:
    """Accounts that are off get none; the answer counts those made."""
    here, off = make_user("a@example.org"), make_user("b@example.org", is_active=False)
    answer = run(console, "make_links", here, off)
    assert "1 link made." in said(answer)
    assert [user for user, _ in answer.context["links"]] == [here]


def test_switching_off_ends_sessions(console: Client, user: Any, client: Client) -> None:
    """Who is switched off is signed out everywhere; both directions are counted and recorded."""
    browser = Client()
    browser.force_login(user)
    assert "1 person switched off." in said(run(console, "switch_off", user))
    user.refresh_from_db()
    assert not user.is_active
    assert not user.sessions.exists()
    assert "0 people switched off." in said(run(console, "switch_off", user))
    assert "1 person switched on." in said(run(console, "switch_on", user))
    assert actions_of_log(user)[:2] == ["user_changed", "user_changed"]


def test_the_last_administrator_stays(console: Client, administrator: Any) -> None:
    """Nobody can leave the platform without an administrator, nor lock themselves out."""
    answer = run(console, "switch_off", administrator)
    assert "lock yourself out" in said(answer)
    console.post(change(administrator), form_of(administrator, is_superuser=None))
    administrator.refresh_from_db()
    assert administrator.is_active and administrator.is_superuser


def test_changes_go_through_the_service(console: Client, user: Any) -> None:
    """A saved form is one audit entry that says what changed from what to what."""
    from apps.registry.models import AuditEntry

    group = Group.objects.create(name="Helpers")
    saved = console.post(
        change(user), form_of(user, name="Ada L.", is_staff="on", groups=[group.pk])
    )
    assert saved.status_code == 302
    user.refresh_from_db()
    assert (user.name, user.is_staff) == ("Ada L.", True)
    assert list(user.groups.all()) == [group]
    entry = AuditEntry.objects.filter(action="user_changed").get()
    assert entry.data["name"] == {"from": "Ada", "to": "Ada L."}
    assert entry.data["groups"] == {"from": [], "to": ["Helpers"]}


def test_an_address_that_is_taken_is_refused_on_the_form(
    console: Client, user: Any, stranger: Any
) -> None:
    answer = console.post(change(user), form_of(user, email=stranger.email))
    assert answer.status_code == 200
    assert "email" in answer.context["adminform"].form.errors


def test_operators_cannot_raise_themselves_or_take_over_others(
    make_staff: Callable[..., Any], administrator: Any, client: Client, user: Any
) -> None:
    """Rights, and accounts that have them, are in the hands of administrators."""
    keeper = make_staff("keeper@example.org", *KEEPER)
    client.force_login(keeper)
    client.post(change(keeper), form_of(keeper, is_superuser="on", groups=[1]))
    client.post(change(user), form_of(user, is_staff="on", is_superuser="on"))
    assert "Only administrators" in said(run(client, "make_operators", user))
    client.post(f"{LIST}add/", {"email": "x@example.org", "name": "", "is_staff": "on"})
    for account in (keeper, user):
        account.refresh_from_db()
        assert not account.is_superuser
    assert not user.is_staff
    assert not type(user).objects.filter(email="x@example.org", is_staff=True).exists()

    link = reverse("admin:registry_user_password_link", args=[administrator.pk])
    assert client.post(link).status_code == 403
    assert "0 links made." in said(run(client, "make_links", administrator))
    assert client.post(change(administrator), {"email": "mine@example.org"}).status_code == 403
    assert "0 people switched off." in said(run(client, "switch_off", administrator))
    assert client.post(f"{LIST}{administrator.pk}/delete/", {"post": "yes"}).status_code == 403


def test_who_never_acted_can_be_deleted_and_others_not(
    console: Client, make_user: Callable[..., Any], user: Any, project: Any
) -> None:
    """The page explains in one sentence why somebody stays."""
    unused = make_user("unused@example.org")
    page = console.get(f"{LIST}{user.pk}/delete/")
    assert "Switch the account off instead" in page.content.decode()
    console.post(f"{LIST}{user.pk}/delete/", {"post": "yes"})
    assert type(user).objects.filter(pk=user.pk).exists()
    console.post(f"{LIST}{unused.pk}/delete/", {"post": "yes"})
    assert not type(user).objects.filter(pk=unused.pk).exists()


def test_the_only_owner_of_a_project_is_not_deleted(
    console: Client, make_user: Callable[..., Any], project: Any, user: Any
) -> None:
    """Even one who never acted: the project would be nobody's."""
    from apps.registry.services.members import set_member_roles

    heir = make_user("heir@example.org")
    set_member_roles(actor=user, project=project, user=heir, roles={"owner"})
    set_member_roles(actor=user, project=project, user=user, roles={"viewer"})
    answer = console.post(f"{LIST}{heir.pk}/delete/", {"post": "yes"}, follow=True)
    assert "only owner" in said(answer)
    assert type(user).objects.filter(pk=heir.pk).exists()


def test_deleting_several_is_all_or_nothing(
    console: Client, make_user: Callable[..., Any], project: Any, user: Any
) -> None:
    """A refusal in the middle leaves everybody in place and is told as a message."""
    from apps.registry.services.members import set_member_roles

    unused, heir = make_user("a@example.org"), make_user("b@example.org")
    set_member_roles(actor=user, project=project, user=heir, roles={"owner"})
    set_member_roles(actor=user, project=project, user=user, roles={"viewer"})
    chosen = {"_selected_action": [str(unused.pk), str(heir.pk)], "post": "yes"}
    answer = console.post(LIST, {"action": "delete_selected", **chosen}, follow=True)
    assert "only owner" in said(answer)
    assert type(user).objects.filter(pk__in=[unused.pk, heir.pk]).count() == 2


def test_unlocking_lets_somebody_sign_in_again(console: Client, user: Any) -> None:
    """After too many wrong passwords the right one is refused, until an operator unlocks."""
    from django.conf import settings

    def sign_in(password: str) -> Client:
        browser = Client()
        data = {"username": user.email, "password": password}
        browser.post(reverse("registry:login"), data)
        return browser

    for _ in range(settings.AXES_FAILURE_LIMIT):
        sign_in("wrong")
    assert "_auth_user_id" not in sign_in("correct-horse-9").session
    assert "1 person unlocked." in said(run(console, "unlock", user))
    assert "_auth_user_id" in sign_in("correct-horse-9").session


def test_groups_are_for_administrators(
    make_staff: Callable[..., Any], client: Client, console: Client, administrator: Any
) -> None:
    """Whoever may change groups could take any right, so the model permission is not enough."""
    from apps.registry.models import AuditEntry

    group = Group.objects.create(name="Helpers")
    url = reverse("admin:auth_group_change", args=[group.pk])
    console.post(url, {"name": "Helpers of all", "permissions": []})
    group.refresh_from_db()
    assert group.name == "Helpers of all"
    entry = AuditEntry.objects.filter(action="admin_changed").get()
    assert (entry.actor, entry.target_label) == (administrator, "Helpers of all")

    client.force_login(make_staff("g@example.org", "auth.view_group", "auth.change_group"))
    assert client.post(url, {"name": "Mine", "permissions": []}).status_code == 403
