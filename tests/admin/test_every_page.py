"""Every page of the admin console, found by walking it: it works, and only for those it is for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.admin import pages

pytestmark = [pytest.mark.req("ADM-1"), pytest.mark.django_db]

# django-celery-beat's own marker row, a detail row of axes that is switched off here, and events,
# whose key has two parts: each run's page leads to its log.
UNMANAGED = {
    "django_celery_beat.periodictasks",
    "axes.accessattemptexpiration",
    "runs.runevent",
    "axes.accessfailurelog",
}


def models() -> list[str]:
    importlib.import_module("django.contrib.admin").autodiscover()
    return sorted(pages.registered())


def test_every_model_has_its_pages() -> None:
    """A model of ours, or of a part that operators run, that nobody registered fails here."""
    ours = ("apps.", "omni.", "axes", "django_celery_beat")
    wanted = {
        pages.label(model)
        for config in apps.get_app_configs()
        if config.name.startswith(ours)
        for model in config.get_models()
    }
    assert wanted - UNMANAGED <= set(pages.registered())


def test_every_list_can_be_searched_and_filtered(
    console: Client, furnished: SimpleNamespace
) -> None:
    """Each list shows its rows, finds by words, and understands every choice of its filters."""
    for label, (model, page) in pages.registered().items():
        url = pages.changelist(model)
        answer = console.get(url)
        assert answer.status_code == 200, label
        listed = answer.context["cl"]
        assert listed.result_count >= 1, f"{label} shows no row"
        assert page.search_fields, f"{label} cannot be searched"
        assert len(page.list_display) > 1, f"{label} shows one column"
        assert console.get(url, {"q": "example 1"}).status_code == 200, label
        for query in pages.filter_queries(listed):
            assert console.get(url + query).status_code == 200, label + query


def test_every_list_can_be_sorted(console: Client, furnished: SimpleNamespace) -> None:
    """By each of its columns; one that cannot be sorted by is passed over."""
    for label, (model, page) in pages.registered().items():
        for column in range(1, len(page.list_display) + 1):
            answer = console.get(pages.changelist(model), {"o": str(column)})
            assert answer.status_code == 200, f"{label} {column}"


def test_every_row_has_its_pages(console: Client, furnished: SimpleNamespace) -> None:
    """Add, change, history, delete and action pages answer an administrator."""
    for label, (model, page) in pages.registered().items():
        row = page.model._default_manager.first()
        if label in pages.LISTED_ONLY:
            assert console.get(f"{pages.changelist(model)}{row.pk}/change/").status_code == 404
            continue
        for url in pages.addresses(model, row.pk):
            answer = console.get(url)
            adding, deleting = url.endswith("/add/"), url.endswith("/delete/")
            refused = (adding and not page.has_add_permission(answer.wsgi_request)) or (
                deleting and not page.has_delete_permission(answer.wsgi_request, row)
            )
            expected = {403} if refused else {200, 302}
            assert answer.status_code in expected, f"{url} {answer.status_code}"


def test_lists_do_not_ask_more_as_they_grow(
    console: Client, furnished: SimpleNamespace, make_rows: dict[str, Callable[[int], Any]]
) -> None:
    """The number of queries of a list does not depend on its length."""
    for position, (label, (model, _)) in enumerate(pages.registered().items()):
        before = _queries(console, pages.changelist(model))
        for n in range(8):
            make_rows[label](1000 + 10 * position + n)
        after = _queries(console, pages.changelist(model))
        assert after <= before + 1, f"{label}: {before} queries became {after}"


def _queries(console: Client, url: str) -> int:
    with CaptureQueriesContext(connection) as seen:
        assert console.get(url).status_code == 200
    return len(seen)


@pytest.mark.req("SEC-2")
def test_strangers_and_visitors_find_nothing(
    client: Client, furnished: SimpleNamespace, stranger: Any
) -> None:
    """A visitor is sent to sign in; somebody who is no operator is refused, on every address."""
    urls = [
        url
        for model, _ in pages.registered().values()
        for url in pages.addresses(model, model._default_manager.values_list("pk", flat=True)[0])
    ]
    urls += ["/admin/", "/admin/search/?s=a", "/admin/autocomplete/", "/admin/jsi18n/"]
    for url in urls:
        visitor = client.get(url)
        assert visitor.status_code == 302, url
        assert visitor["Location"].startswith("/admin/login/"), url
    client.force_login(stranger)
    for url in urls:
        assert client.get(url).status_code == 403, url
        assert client.post(url, {"post": "yes", "_save": "1"}).status_code == 403, url


@pytest.mark.req("SEC-2")
def test_who_may_only_look_changes_nothing(
    client: Client, furnished: SimpleNamespace, onlooker: Any
) -> None:
    """With view permissions every list opens, and no request to any address alters a row."""
    client.force_login(onlooker)
    before = _everything()
    for label, (model, page) in pages.registered().items():
        keys = list(model._default_manager.values_list("pk", flat=True)[:2])
        listed = client.get(pages.changelist(model))
        assert listed.status_code == 200, label
        for action in (page.actions or ()) + ("delete_selected",):
            chosen = {"action": action, "_selected_action": [str(key) for key in keys]}
            client.post(pages.changelist(model), {**chosen, "post": "yes"})
        for url in pages.addresses(model, keys[0]):
            client.post(
                url, {"post": "yes", "_save": "1", "name": "Taken over", "email": "x@x.org"}
            )
        assert client.get(f"{pages.changelist(model)}add/").status_code == 403, label
    assert _everything() == before


def _everything() -> dict[str, list[Any]]:
    """All rows but those that looking itself writes."""
    written = {"registry.auditentry", "registry.session", "axes.accesslog", "admin.logentry"}
    return {
        pages.label(model): sorted(map(str, model._default_manager.values()))
        for model in apps.get_models()
        if pages.label(model) not in written
    }
