"""OpenAPI documents: accepted, compiled, removed."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from apps.registry.models import AuditAction, Project, User
from apps.registry.permissions import require, require_operator
from apps.registry.roles import Permission
from apps.registry.services import audit
from apps.tools.executors.openapi.compiler import Compiled, default_server, manifests_of
from apps.tools.executors.openapi.document import open_document
from apps.tools.executors.openapi.reading import MAX_BYTES
from apps.tools.models import OpenApiDocument
from omni.contracts.errors import InvalidInput, NotFound
from omni.sandbox.egress.addresses import opened_places
from omni.sandbox.egress.client import FetchLimits, Request, fetch
from omni.sandbox.egress.errors import EgressError
from omni.sandbox.egress.target import parse_url

FETCH = FetchLimits(seconds=20, body_bytes=MAX_BYTES)
ACCEPT = "application/json, application/yaml, text/yaml, */*;q=0.5"
Credential = str | Mapping[str, str] | None


def add_openapi_document(
    *,
    actor: User,
    project: Project,
    text: str = "",
    url: str = "",
    base_url: str = "",
    credential: Credential = None,
) -> tuple[OpenApiDocument, Compiled, bool]:
    """Accept a document, given or fetched; answers the row, its tools, and whether it is new.

    Nothing is installed by this: the manifests are what installing starts from.
    """
    require(actor, Permission.CHANGE, project)
    if bool(text) == bool(url):
        raise InvalidInput("Give either the document or its address.")
    if url:
        text = fetch_document(url)
    document = open_document(text)
    base_url = base_url or default_server(document, url)
    compiled = manifests_of(document, base_url, credential)
    row, is_new = _store(
        OpenApiDocument(
            project=project,
            sha256=document.sha256,
            title=document.title,
            api_version=document.version,
            base_url=base_url,
            source_url=url,
            text=text,
            tool_count=len(compiled.tools),
            skipped_count=len(compiled.skipped),
            added_by=actor,
        )
    )
    return row, compiled, is_new


def compiled_document(
    row: OpenApiDocument, *, base_url: str = "", credential: Credential = None
) -> Compiled:
    """The tools of a stored document, with another server or a credential where given."""
    return manifests_of(open_document(row.text), base_url or row.base_url, credential)


@transaction.atomic
def remove_openapi_document(
    *, actor: User, project: Project, sha256: str, as_operator: bool = False
) -> None:
    """Forget a document; tools that are pinned to it stop working."""
    if as_operator:
        require_operator(actor, "tools.delete_openapidocument")
    else:
        require(actor, Permission.CHANGE, project)
    rows = OpenApiDocument.objects.select_for_update().filter(project=project, sha256=sha256)
    row = rows.first()
    if row is None:
        raise NotFound("The project has no such document.")
    audit.record(
        AuditAction.OPENAPI_REMOVED,
        actor=actor,
        project=project,
        target=row,
        data={"sha256": sha256} | audit.operator_mark(as_operator),
    )
    row.delete()


def fetch_document(url: str) -> str:
    """The text behind an address; only its own host is asked, redirects included."""
    try:
        host = parse_url(url).host
        answer = fetch(
            Request("GET", url, {"Accept": ACCEPT}),
            hosts=frozenset({host}),
            limits=FETCH,
            allow_private=opened_places(),
        )
    except EgressError as error:
        raise InvalidInput.field("url", error.message) from None
    if answer.status != 200:
        raise InvalidInput.field("url", f"The server answered {answer.status}.")
    try:
        return answer.body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput.field("url", "What the server answered is not UTF-8.") from None


@transaction.atomic
def _store(row: OpenApiDocument) -> tuple[OpenApiDocument, bool]:
    """The same document again is the same row; only its server may be another one."""
    known = {"project": row.project, "sha256": row.sha256}
    values = {
        name: getattr(row, name)
        for name in ("title", "api_version", "text", "tool_count", "skipped_count", "added_by")
    }
    place = {"base_url": row.base_url, "source_url": row.source_url}
    stored, is_new = OpenApiDocument.objects.update_or_create(
        **known, defaults=place, create_defaults=values | place
    )
    audit.record(
        AuditAction.OPENAPI_ADDED,
        actor=row.added_by,
        project=row.project,
        target=stored,
        data={"sha256": row.sha256, "again": not is_new, **place},
    )
    return stored, is_new
