"""What must never be shown is in the database, and in no page of the admin console."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.admin import pages
from tests.admin.conftest import SEALED_ANSWER, SECRET_VALUE, TYPED_PASSWORD

pytestmark = [
    pytest.mark.req("SEC-3"),
    pytest.mark.req("ADM-1"),
    pytest.mark.django_db,
]


def hidden_values() -> dict[str, str]:
    from apps.registry.models import ApiToken, Session, User
    from apps.tools.models import Secret

    found = {
        "a secret's value": SECRET_VALUE,
        "an idempotent answer": SEALED_ANSWER.decode(),
        "a password typed as a login": TYPED_PASSWORD,
    }
    for secret in Secret.objects.all():
        found[f"ciphertext of {secret}"] = bytes(secret.ciphertext).decode()
    for token in ApiToken.objects.all():
        found[f"digest of {token}"] = token.digest
    for number, session in enumerate(Session.objects.all()):
        found[f"key of session {number}"] = session.session_key
        found[f"data of session {number}"] = session.session_data
    for user in User.objects.exclude(password=""):
        found[f"password hash of {user}"] = user.password
    return found


def every_page(console: Client) -> dict[str, str]:
    shown = {"/admin/": console.get("/admin/").content.decode()}
    for label, (model, page) in pages.registered().items():
        url = pages.changelist(model)
        shown[url] = console.get(url).content.decode()
        if label in pages.LISTED_ONLY:
            continue
        keys = list(model._default_manager.values_list("pk", flat=True)[:4])
        for address in {each for key in keys for each in pages.addresses(model, key)}:
            shown[address] = console.get(address).content.decode()
        for action in page.actions or ():
            if action.startswith("export"):
                chosen = {"action": action, "_selected_action": keys, "select_across": "1"}
                shown[f"{url} {action}"] = console.post(url, chosen).content.decode()
    for field in ("membership", "secret"):
        asked = {"app_label": "tools" if field == "secret" else "registry", "model_name": field}
        answer = console.get(reverse("admin:autocomplete"), {**asked, "field_name": "project"})
        shown[f"autocomplete of {field}"] = answer.content.decode()
    return shown


def test_no_page_shows_what_must_stay_hidden(console: Client, furnished: SimpleNamespace) -> None:
    """Values, digests, ciphertexts, hashes and session keys appear on no page or export."""
    hidden = hidden_values()
    assert len(hidden) > 10
    for where, content in every_page(console).items():
        for what, value in hidden.items():
            assert value not in content, f"{where} shows {what}"


def test_a_secret_is_typed_and_never_shown_again(
    console: Client, administrator: Any, project: Any
) -> None:
    """The form sets and replaces; neither an error nor the stored row fills its field."""
    from apps.tools.models import Secret
    from apps.tools.services.secrets import resolve_secret

    add = reverse("admin:tools_secret_add")
    wrong = console.post(add, {"name": "not a name!", "value": SECRET_VALUE, "description": ""})
    assert wrong.status_code == 200
    assert SECRET_VALUE not in wrong.content.decode()
    assert not Secret.objects.exists()

    done = console.post(
        add, {"project": project.pk, "name": "API_KEY", "value": SECRET_VALUE, "description": "d"}
    )
    assert done.status_code == 302, done.context and done.context["adminform"].form.errors
    secret = Secret.objects.get()
    assert secret.set_by == administrator
    assert resolve_secret("secret://API_KEY", project=project) == SECRET_VALUE

    change = reverse("admin:tools_secret_change", args=[secret.pk])
    assert SECRET_VALUE not in console.get(change).content.decode()
    assert console.post(change, {"value": "another value", "description": "d"}).status_code == 302
    assert resolve_secret("secret://API_KEY", project=project) == "another value"


def test_adding_a_secret_does_not_replace_one(console: Client, project: Any) -> None:
    """A name that is taken is an error on the form, not a silent replacement."""
    from apps.tools.services.secrets import resolve_secret

    add = reverse("admin:tools_secret_add")
    for value in ("first value", "second value"):
        answer = console.post(add, {"project": project.pk, "name": "KEY", "value": value})
    assert answer.status_code == 200
    assert "open it to replace it" in answer.content.decode()
    assert resolve_secret("secret://KEY", project=project) == "first value"


def test_sessions_end_by_their_digest(
    console: Client, furnished: SimpleNamespace, administrator: Any
) -> None:
    """The list's checkboxes name sessions without their keys, and end exactly the chosen ones."""
    import hashlib

    from apps.registry.models import AuditAction, AuditEntry, Session

    kept, ended = (store.session_key for store in furnished.rows["registry.session"])
    handle = hashlib.sha256(ended.encode()).hexdigest()
    url = reverse("admin:registry_session_changelist")
    assert handle in console.get(url).content.decode()
    console.post(url, {"action": "end", "_selected_action": [handle]})
    assert not Session.objects.filter(session_key=ended).exists()
    assert Session.objects.filter(session_key=kept).exists()
    entry = AuditEntry.objects.first()
    assert entry is not None and entry.action == AuditAction.SESSIONS_ENDED
    # A key itself is not accepted: it would invite putting keys into pages.
    console.post(url, {"action": "end", "_selected_action": [kept]})
    assert Session.objects.filter(session_key=kept).exists()
