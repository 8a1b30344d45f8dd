"""Guessing passwords is slow from everywhere, and leaves few and harmless traces."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from apps.registry import throttle
from apps.registry.lockout import ACCOUNT_FACTOR, ADDRESS_FACTOR, RESETS_PER_HOUR
from apps.registry.models import AuditAction, AuditEntry
from apps.registry.services.accounts import unlock_sign_in
from omni import config

pytestmark = [pytest.mark.django_db, pytest.mark.req("SEC-1")]

PASSWORD = "correct-horse-9"
TYPED = "hunter2@my-password"


def sign_in(
    email: str = "ada@example.org", password: str = "wrong", address: str = "192.0.2.1"
) -> Any:
    form = {"username": email, "password": password}
    return Client(REMOTE_ADDR=address).post("/login", form)


def entries(action: AuditAction) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(action=action))


@pytest.fixture(autouse=True)
def _one_period(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two attempts before a lockout, and no period ends in the middle of a test."""
    few = dataclasses.replace(config.current(), login_attempts=2)
    monkeypatch.setattr(config, "current", lambda: few)
    monkeypatch.setattr(throttle.time, "time", lambda: 1_800_000_010.0)


def test_one_address_cannot_try_many_accounts(make_user: Callable[..., Any]) -> None:
    """IPv6 hosts are counted by their /64; others go on; the right password is refused too."""
    make_user("grace@example.org")
    limit = 2 * ADDRESS_FACTOR
    codes = [
        sign_in(f"p{n}@example.org", address=f"2001:db8::{n}").status_code for n in range(1, 25)
    ]
    assert codes == [422] * limit + [429] * (24 - limit)
    refused = sign_in("grace@example.org", PASSWORD, address="2001:db8::ff")
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) == 900 - 10
    assert sign_in("grace@example.org", PASSWORD, address="2001:db8:1::1").status_code == 302
    assert [entry.data for entry in entries(AuditAction.SIGN_IN_LOCKED)] == [
        {"limit": "sign-in-address"}
    ]


@pytest.fixture
def crowded_office(user: Any) -> str:
    """An address that Ada signed in from, and from which others then guessed too often."""
    address = "2001:db8:7::1"
    assert sign_in(password=PASSWORD, address=address).status_code == 302
    for n in range(2 * ADDRESS_FACTOR + 1):
        sign_in(f"p{n}@example.org", address=f"2001:db8:7::{n}")
    assert sign_in(password=PASSWORD, address=address).status_code == 429
    return address


def test_unlocking_a_person_opens_the_address_they_work_from(
    crowded_office: str, user: Any, administrator: Any
) -> None:
    """Not a word of theirs was wrong, so the address alone was in the way; the log names it."""
    assert unlock_sign_in(actor=administrator, email=user.email) == 1
    assert sign_in(password=PASSWORD, address=crowded_office).status_code == 302
    (entry,) = entries(AuditAction.ADMIN_CHANGED)
    assert entry.data["addresses"] == [crowded_office]
    assert unlock_sign_in(actor=administrator, email=user.email) == 0


def test_unlocking_a_guess_in_the_console_opens_its_address(
    crowded_office: str, administrator: Any
) -> None:
    """For somebody who never was there before: the guesses from the address are in the list."""
    row = AccessAttempt.objects.filter(ip_address__startswith="2001:db8:7:").first()
    assert row is not None
    client = Client()
    client.force_login(administrator)
    form = {"action": "unlock", "_selected_action": [row.pk]}
    client.post("/admin/axes/accessattempt/", form)
    assert sign_in(password=PASSWORD, address=crowded_office).status_code == 302


def test_somebody_with_a_shell_on_the_server_can_unlock(crowded_office: str, user: Any) -> None:
    """When nobody can sign in to the console any more; other addresses stay as they are."""
    out = io.StringIO()
    call_command("unlock", user.email, address="192.0.2.77", stdout=out)
    assert "was not locked" in out.getvalue()
    call_command("unlock", user.email.upper(), address=crowded_office, stdout=out)
    assert "can sign in again" in out.getvalue()
    assert sign_in(password=PASSWORD, address=crowded_office).status_code == 302
    assert [entry.actor_label for entry in entries(AuditAction.ADMIN_CHANGED)] == ["omni"]
    with pytest.raises(CommandError, match="no account"):
        call_command("unlock", "nobody@example.org")


def test_many_addresses_cannot_try_one_account(user: Any, administrator: Any) -> None:
    """Until an operator unlocks it; one line in the log, whatever is tried after it."""
    limit = 2 * ACCOUNT_FACTOR
    codes = [sign_in(address=f"198.51.100.{n}").status_code for n in range(limit + 3)]
    assert codes == [422] * limit + [429] * 3
    assert len(entries(AuditAction.SIGN_IN_LOCKED)) == 1
    assert sign_in(password=PASSWORD, address="203.0.113.9").status_code == 429
    unlock_sign_in(actor=administrator, email=user.email)
    assert sign_in(password=PASSWORD, address="203.0.113.9").status_code == 302


def test_right_passwords_use_nothing_up(user: Any) -> None:
    codes = {sign_in(password=PASSWORD).status_code for _ in range(2 * ADDRESS_FACTOR + 2)}
    assert codes == {302}


def test_a_lockout_is_one_line_and_ends_when_it_says(user: Any, settings: Any) -> None:
    """Nobody without an account can fill a log from which nothing can be removed."""
    settings.AXES_FAILURE_LIMIT = 3
    for _ in range(9):
        last = sign_in()
    assert last.status_code == 429
    assert len(entries(AuditAction.SIGN_IN_FAILED)) == 3
    assert len(entries(AuditAction.SIGN_IN_LOCKED)) == 1
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=10))
    later = sign_in()
    assert 240 <= int(later["Retry-After"]) <= 300
    assert b"5 minutes" in later.content


def test_what_is_typed_as_an_address_is_kept_only_if_it_is_one(user: Any) -> None:
    """A password in the wrong field is nowhere: not in the audit log, not in axes' tables."""
    form = {"username": TYPED, "password": "x", "next": f"/{TYPED}"}
    Client().post("/login", form)
    sign_in(user.email)
    labels = {entry.actor_label for entry in entries(AuditAction.SIGN_IN_FAILED)}
    assert labels == {"(unknown address)", user.email}
    assert AccessAttempt.objects.filter(username=user.email).exists()
    kept = f"{list(AccessAttempt.objects.values())} {list(AuditEntry.objects.values())}"
    assert TYPED not in kept
    assert "hunter2" not in kept
    assert AccessAttempt.objects.exclude(username=user.email).get().username != ""


def test_a_present_password_cannot_be_guessed_in_an_open_browser(user: Any) -> None:
    client = Client()
    client.force_login(user)
    form = {"new_password1": "staple-battery-7", "new_password2": "staple-battery-7"}
    codes = [
        client.post("/password/change", {**form, "old_password": f"no{n}"}).status_code
        for n in range(4)
    ]
    assert codes == [422, 422, 429, 429]
    assert client.post("/password/change", {**form, "old_password": PASSWORD}).status_code == 429
    assert len(entries(AuditAction.SIGN_IN_LOCKED)) == 1
    user.refresh_from_db()
    assert user.check_password(PASSWORD)


def test_links_are_not_asked_for_without_end(db: None) -> None:
    ask = lambda: Client().post("/password/reset", {"email": "a@example.org"})  # noqa: E731
    codes = [ask().status_code for _ in range(RESETS_PER_HOUR + 1)]
    assert codes == [200] * RESETS_PER_HOUR + [429]
    assert int(ask()["Retry-After"]) > 0
