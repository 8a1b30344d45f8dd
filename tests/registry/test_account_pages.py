"""Signing in, passwords, sessions and tokens as a person meets them in the workspace."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from apps.registry.models import ApiToken, AuditAction, AuditEntry, Session
from apps.registry.services.people import make_password_link
from apps.registry.services.tokens import create_token
from omni import config

pytestmark = [pytest.mark.django_db, pytest.mark.req("SEC-1")]

PASSWORD = "correct-horse-9"
BETTER = "staple-battery-7"


def sign_in(
    client: Client, email: str = "ada@example.org", password: str = PASSWORD, **more: str
) -> Any:
    return client.post("/login", {"username": email, "password": password, **more})


@pytest.fixture
def mail_works(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = dataclasses.replace(
        config.current(), email_url="smtp://mail", public_url="https://omni.example.org"
    )
    monkeypatch.setattr(config, "current", lambda: changed)


@pytest.mark.parametrize(
    ("wanted", "reached"),
    [("/workers/", "/workers/"), ("https://example.org/", "/"), ("//example.org", "/"), ("", "/")],
)
def test_sign_in_leads_only_to_this_site(
    client: Client, user: Any, wanted: str, reached: str
) -> None:
    assert sign_in(client, next=wanted)["Location"] == reached


def test_wrong_password_says_so_and_keeps_the_address(client: Client, user: Any) -> None:
    response = sign_in(client, password="wrong")
    assert response.status_code == 422
    assert b"do not belong together" in response.content
    assert b'value="ada@example.org"' in response.content
    assert b"wrong" not in response.content


def test_too_many_attempts_say_when_to_come_back(client: Client, user: Any) -> None:
    answers = [sign_in(client, password="wrong") for _ in range(config.current().login_attempts)]
    assert answers[-1].status_code == 429
    assert int(answers[-1]["Retry-After"]) > 0
    assert b"15 minutes" in answers[-1].content
    assert sign_in(client).status_code == 429


def test_spellings_of_an_address_share_one_counter(client: Client, user: Any) -> None:
    spellings = ["ADA@example.org", " ada@example.org", "Ada@Example.org", "ada@example.org "]
    for spelling in spellings * 2:
        last = sign_in(client, email=spelling, password="wrong")
    assert last.status_code == 429
    assert sign_in(client).status_code == 429


def test_others_are_not_locked_out_with_them(client: Client, user: Any, stranger: Any) -> None:
    for _ in range(config.current().login_attempts):
        sign_in(client, password="wrong")
    assert sign_in(client, email=stranger.email).status_code == 302


def test_a_swapped_link_after_the_session_ended_leaves_the_shell(client: Client) -> None:
    headers = {
        "HX-Request": "true",
        "HX-Target": "main",
        "HX-Current-URL": "http://testserver/workers/",
    }
    response = client.get("/projects/", headers=headers, follow=True)
    assert response["HX-Redirect"] == "/login?next=%2Fworkers%2F"


def test_a_changed_password_ends_the_other_sessions(client: Client, user: Any) -> None:
    elsewhere = Client()
    sign_in(client)
    sign_in(elsewhere)
    form = {"old_password": PASSWORD, "new_password1": BETTER, "new_password2": BETTER}
    assert client.post("/password/change", form).status_code == 302
    assert client.get("/").status_code == 200
    assert elsewhere.get("/").status_code == 302
    assert AuditEntry.objects.filter(action=AuditAction.PASSWORD_CHANGED, actor=user).exists()


@pytest.mark.parametrize("weak", ["short", "1234567890", "ada@example.org"])
def test_a_weak_password_is_refused_with_a_reason(client: Client, user: Any, weak: str) -> None:
    client.force_login(user)
    form = {"old_password": PASSWORD, "new_password1": weak, "new_password2": weak}
    response = client.post("/password/change", form)
    assert response.status_code == 422
    assert b"field-error" in response.content
    user.refresh_from_db()
    assert user.check_password(PASSWORD)


def test_without_mail_the_page_says_whom_to_ask(client: Client, user: Any) -> None:
    page = client.get("/password/reset")
    assert b"This installation sends no mail." in page.content
    client.post("/password/reset", {"email": user.email})
    assert mail.outbox == []


@pytest.mark.usefixtures("mail_works")
def test_a_link_is_mailed_and_never_points_elsewhere(client: Client, user: Any) -> None:
    response = client.post("/password/reset", {"email": user.email}, headers={"Host": "localhost"})
    assert response["Location"] == "/password/reset/sent"
    assert "https://omni.example.org/password/set/" in str(mail.outbox[0].body)


@pytest.mark.usefixtures("mail_works")
def test_asking_tells_nothing_and_floods_nobody(client: Client, user: Any) -> None:
    """An unknown address gets the same answer; a known one few mails an hour."""
    unknown = client.post("/password/reset", {"email": "nobody@example.org"})
    assert unknown["Location"] == "/password/reset/sent"
    for _ in range(6):
        assert client.post("/password/reset", {"email": user.email}).status_code == 302
    assert len(mail.outbox) == 3


def test_a_link_sets_a_password_once(client: Client, user: Any) -> None:
    link = make_password_link(actor=None, user=user)
    path = re.sub(r"^https?://[^/]+", "", link)
    page = client.get(path, follow=True)
    assert b"Set a password" in page.content
    shown_at = page.redirect_chain[-1][0]
    assert path not in shown_at
    done = client.post(shown_at, {"new_password1": BETTER, "new_password2": BETTER})
    assert done["Location"] == "/password/set/done"
    assert sign_in(client, password=BETTER).status_code == 302
    assert b"no longer works" in Client().get(path, follow=True).content


def test_sessions_are_shown_without_their_keys_and_ended(client: Client, user: Any) -> None:
    elsewhere = Client(headers={"User-Agent": "Mozilla/5.0 (X11; Linux) Firefox/140.0"})
    sign_in(client)
    sign_in(elsewhere)
    page = client.get("/account/security").content.decode()
    assert "Firefox on Linux" in page
    assert "this one" in page
    assert not any(key in page for key in Session.objects.values_list("session_key", flat=True))
    client.post("/account/security/sessions")
    assert elsewhere.get("/").status_code == 302
    assert client.get("/").status_code == 200


def test_a_new_token_is_in_one_answer_only(client: Client, user: Any) -> None:
    client.force_login(user)
    form = {"name": "Nightly", "days": "30", "scopes": ["read"]}
    page = client.post("/account/tokens", form)
    assert page.status_code == 201
    value = re.findall(r'id="token-value">(omni_[^<]+)<', page.content.decode())[0]
    assert page["Cache-Control"] == "private, no-store"
    assert value not in client.get("/account/tokens").content.decode()
    assert not ApiToken.objects.filter(digest=value).exists()


def test_the_printed_call_of_a_new_token_works(client: Client, user: Any) -> None:
    """Whoever pastes the example gets an answer."""
    client.force_login(user)
    form = {"name": "Nightly", "days": "30", "scopes": ["read"]}
    page = client.post("/account/tokens", form).content.decode()
    token, path = re.findall(r"Bearer (omni_[\w-]+)[^/]+://[^/]+(/[^<]+)</code>", page)[0]
    answer = Client().get(path, headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.json()["results"]) == (200, [])


def test_without_mail_a_command_that_exists_is_named(client: Client) -> None:
    from omni.cli.people import people

    page = client.get("/password/reset").content.decode()
    group, command = re.findall(r"<code>omni (\w+) (\w+) ADDRESS</code>", page)[0]
    assert group == "people"
    assert command in people.commands


def test_nobody_revokes_the_token_of_another(client: Client, user: Any, stranger: Any) -> None:
    token, _ = create_token(user=user, name="Mine", scopes={"read"})  # type: ignore[arg-type]
    client.force_login(stranger)
    assert client.post(f"/account/tokens/{token.pk}/revoke").status_code == 404
    token.refresh_from_db()
    assert token.revoked_at is None
    client.force_login(user)
    assert client.post(f"/account/tokens/{token.pk}/revoke").status_code == 302
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_a_profile_refuses_an_unknown_time_zone(client: Client, user: Any) -> None:
    client.force_login(user)
    wrong = client.post("/account/", {"name": "Ada", "time_zone": "Mars/Olympus"})
    assert wrong.status_code == 422
    assert client.post("/account/", {"name": "A.", "time_zone": "Asia/Tokyo"}).status_code == 302
    user.refresh_from_db()
    assert (user.name, user.time_zone) == ("A.", "Asia/Tokyo")


def test_a_monitor_may_ask_for_the_head_of_a_page(user: Any) -> None:
    """HEAD answers as GET would, and changes nothing."""
    assert Client().head("/login").status_code == 200
    client = Client()
    client.force_login(user)
    for path in ("/", "/projects/", "/projects/new", "/account/", "/account/tokens", "/schemas/"):
        assert client.head(path).status_code == client.get(path).status_code == 200, path
