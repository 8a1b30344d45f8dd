"""docs/api.md tells the truth: every example in it is run, in its order."""

from __future__ import annotations

import json
import re
import shlex
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from rest_framework.test import APIClient

from apps.registry.models import AuditEntry, Scope, User
from apps.runs.eventlog import append, system
from apps.runs.models import Worker
from apps.runs.services.workers import start_worker
from omni.config import Config
from omni.contracts.errors import HTTP_STATUS

pytestmark = pytest.mark.req("API-1")

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text()
EXAMPLES = re.findall(r"^curl .*$", TEXT, flags=re.MULTILINE)


def parse(example: str) -> tuple[str, str, Any, dict[str, str]]:
    words = shlex.split(example)[1:]
    method, body, headers, address = "GET", None, {}, ""
    while words:
        word = words.pop(0)
        if word == "-X":
            method = words.pop(0)
        elif word == "-d":
            body = json.loads(words.pop(0))
        elif word == "--data-binary":
            body = words.pop(0).encode()
        elif word == "-H":
            name, _, value = words.pop(0).partition(": ")
            headers[name] = value
        else:
            address = word.removeprefix("$OMNI_URL")
    headers.pop("Authorization", None)
    return method, address, body, headers


def made(method: str, address: str, answer: Any) -> dict[str, str]:
    """What later examples refer to; a run also gets something to ask."""
    if method != "POST":
        return {}
    match address.rsplit("/", 1)[1]:
        case "openapi":
            return {"DOCUMENT": answer["sha256"]}
        case "threads":
            return {"THREAD_ID": answer["id"]}
        case "runs":
            return {"RUN_ID": answer["id"]}
        case "retry":
            asked = {"approval_id": answer["id"], "title": "Go on?", "options": ["approve"]}
            append(uuid.UUID(answer["id"]), [system("approval_requested", asked)])
            return {"RUN_ID": answer["id"], "APPROVAL_ID": answer["id"]}
        case "artifacts":
            return {"SHA256": answer["sha256"]}
    return {}


def test_every_example_works(
    caller: Callable[..., APIClient], administrator: User, colleague: User
) -> None:
    client = caller(administrator)
    worker = start_worker(kind=Worker.Kind.WORKER, pid=4711)
    known: dict[str, str] = {"WORKER_ID": str(worker)}
    for example in EXAMPLES:
        method, address, body, headers = parse(example)
        path = re.sub(r"\$(\w+)", lambda name: known[name[1]], address)
        kind = {"content_type": headers.pop("Content-Type")} if "Content-Type" in headers else {}
        response = getattr(client, method.lower())(path, body, headers=headers, **kind)
        content = b"".join(response)
        assert 200 <= response.status_code < 300, (example, content)
        is_json = content and response["Content-Type"] == "application/json"
        answer = json.loads(content) if is_json else {}
        known.update(made(method, address.partition("?")[0], answer))
        for name, field in (("USER_ID", "user_id"), ("PERSON_ID", "id"), ("TOKEN_ID", "id")):
            where = {"USER_ID": "members", "PERSON_ID": "people", "TOKEN_ID": "tokens"}[name]
            if method == "POST" and address.endswith(where):
                known[name] = answer[field]
        known["ENTRY_ID"] = str(AuditEntry.objects.filter(actor=administrator)[0].pk)
    assert len(EXAMPLES) > 25


def test_the_tables_name_every_category_status_and_scope() -> None:
    for category, status in HTTP_STATUS.items():
        assert f"`{category.value}`" in TEXT
        assert re.search(rf"^\| {status}\b", TEXT, flags=re.MULTILINE), status
    assert set(re.findall(r"^\| `(\w+)` \|", TEXT, flags=re.MULTILINE)) == set(Scope)


def test_the_defaults_it_names_are_the_defaults() -> None:
    config = Config()
    assert f"`OMNI_RATE_USER` ({config.rate_user})" in TEXT
    assert f"`OMNI_RATE_ANON` ({config.rate_anon})" in TEXT
    assert f"`OMNI_IDEMPOTENCY_HOURS` ({config.idempotency_hours})" in TEXT
    assert settings.CSRF_COOKIE_NAME in TEXT
