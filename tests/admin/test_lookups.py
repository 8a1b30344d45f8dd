"""The address of a list is no way to ask for what the list does not show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from apps.registry.services.bootstrap import load_groups
from tests.admin import pages

pytestmark = [pytest.mark.req("SEC-3"), pytest.mark.req("ADM-1"), pytest.mark.django_db]

HOSTILE = {
    "": "x",
    "__startswith": "a",
    "__regex": "(",
    "__year": "99999999999",
    "__exact": "99999999999999999999",
    "_from": "99999-99-99",
}
NEVER = ("user__password", "actor__password", "set_by__password", "user__sessions__session_key",
         "project__created_by__password", "created_by__password")  # fmt: skip


@pytest.fixture
def auditor(make_staff: Callable[..., Any]) -> Any:
    load_groups()
    staff = make_staff("audits@example.org", "auth.view_group")
    staff.groups.add(Group.objects.get(name="Auditors"))
    return staff


def offered(page: Any) -> set[str]:
    """The columns by which a list says that it can be narrowed."""
    named = [each if isinstance(each, str) else each[0] for each in page.list_filter
             if not isinstance(each, type)]  # fmt: skip
    return {*named, page.date_hierarchy or "", *page.linked_lookups}


def asked(model: Any) -> Iterator[tuple[str, str, str]]:
    for name in [*(field.name for field in model._meta.concrete_fields), *NEVER]:
        for ending, value in HOSTILE.items():
            yield name, name + ending, value


def test_only_what_a_list_offers_narrows_it(
    client: Client, furnished: SimpleNamespace, auditor: Any
) -> None:
    """Every column of every model: a lookup on one that is no filter finds out nothing."""
    client.force_login(auditor)
    client.raise_request_exception = False
    wrong = []
    for label, (model, page) in pages.registered().items():
        url = pages.changelist(model)
        assert client.get(url).status_code == 200, label
        for name, lookup, value in asked(model):
            answer = client.get(url, {lookup: value})
            narrowed = answer.status_code == 200 and name not in offered(page)
            if answer.status_code >= 500 or narrowed:
                wrong.append(f"{label} ?{lookup}={value}: {answer.status_code}")
    assert wrong == []


@pytest.mark.parametrize(
    ("page", "lookup"),
    [
        ("registry/session", "session_key__startswith"),
        ("registry/user", "password__startswith"),
        ("registry/apitoken", "digest__startswith"),
        ("registry/apitoken", "user__password__startswith"),
        ("tools/secret", "ciphertext__startswith"),
        ("axes/accessattempt", "username__startswith"),
        ("axes/accessattempt", "post_data__contains"),
    ],
)
def test_hidden_columns_cannot_be_guessed(
    client: Client, furnished: SimpleNamespace, auditor: Any, page: str, lookup: str
) -> None:
    """A right and a wrong guess get the same refusal."""
    client.force_login(auditor)
    codes = {client.get(f"/admin/{page}/", {lookup: guess}).status_code for guess in "aopgz"}
    assert codes == {400}


@pytest.mark.parametrize("query", ["at__year=99999999999", "at__year=1&at__day=77", "p=999999999",
    "o=99.-99.x", "actor__id__exact=nobody", "allowed__exact=perhaps", "at__year=9999",
])  # fmt: skip
def test_what_cannot_be_asked_shows_the_whole_list(console: Client, query: str) -> None:
    answer = console.get(f"/admin/registry/auditentry/?{query}", follow=True)
    assert answer.status_code == 200
    assert answer.context["cl"].result_count >= 1


def test_the_history_of_a_row_is_still_found(
    console: Client, furnished: SimpleNamespace, project: Any
) -> None:
    answer = console.get(f"/admin/registry/project/{project.pk}/history/", follow=True)
    assert [entry.target_id for entry in answer.context["cl"].result_list] == [str(project.pk)]
