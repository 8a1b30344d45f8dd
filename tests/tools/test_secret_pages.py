"""Secrets in the workspace: written, replaced, deleted, never read."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from apps.registry.models import Project
from apps.tools.models import Secret
from apps.tools.services.secrets import resolve_secret

pytestmark = [pytest.mark.django_db, pytest.mark.req("SEC-3")]

VALUE = "sesame-open-4711"


@pytest.fixture
def owner(client: Client, user: Any, project: Project) -> Client:
    client.force_login(user)
    return client


def test_a_secret_goes_in_and_never_comes_out(owner: Client, project: Project) -> None:
    form = {"name": "KEY", "value": VALUE, "description": "For the door"}
    page = owner.post("/projects/apollo/secrets", form, follow=True)
    assert b"The secret KEY is set." in page.content
    assert VALUE.encode() not in page.content
    assert VALUE.encode() not in owner.get("/projects/apollo/secrets/KEY/replace").content
    assert resolve_secret("secret://KEY", project=project) == VALUE


def test_a_refused_form_does_not_repeat_the_value(owner: Client) -> None:
    response = owner.post("/projects/apollo/secrets", {"name": "not a name", "value": VALUE})
    assert response.status_code == 422
    assert b"Start with a letter" in response.content
    assert VALUE.encode() not in response.content


def test_replacing_keeps_the_description_and_deleting_removes(
    owner: Client, project: Project
) -> None:
    owner.post(
        "/projects/apollo/secrets", {"name": "KEY", "value": "old", "description": "For the door"}
    )
    owner.post("/projects/apollo/secrets/KEY/replace", {"value": VALUE})
    secret = Secret.objects.get(project=project, name="KEY")
    assert secret.description == "For the door"
    assert resolve_secret("secret://KEY", project=project) == VALUE
    assert b"Delete KEY?" in owner.get("/projects/apollo/secrets/KEY/delete").content
    owner.post("/projects/apollo/secrets/KEY/delete")
    assert not Secret.objects.filter(project=project).exists()
    assert owner.get("/projects/apollo/secrets/KEY/delete").status_code == 404
