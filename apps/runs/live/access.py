"""On what ground a stream is open, and whether that ground still holds."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth import HASH_SESSION_KEY
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from rest_framework.request import Request

from apps.registry.api.authentication import signed_in
from apps.registry.models import ApiToken, Scope, Session, User
from apps.registry.permissions import projects_with
from apps.registry.roles import Permission
from apps.runs.models import Run
from omni.contracts.errors import NotFound


@dataclass(frozen=True, slots=True)
class Grant:
    """A credential with a permission; `project_id` is None for “wherever it is held”."""

    user_id: uuid.UUID
    token_id: uuid.UUID | None
    session_key: str
    permission: Permission
    project_id: uuid.UUID | None


def grant_for(
    request: Request, permission: Permission, project_id: uuid.UUID | None = None
) -> Grant:
    """What an admitted request may go on reading."""
    token = request.auth if isinstance(request.auth, ApiToken) else None
    session = "" if token else str(request._request.session.session_key or "")
    user = signed_in(request)
    return Grant(user.pk, token.pk if token else None, session, permission, project_id)


def visible_run(user: User, run_id: uuid.UUID) -> Run:
    """The run, or NotFound: also for runs of projects that are not theirs."""
    projects = projects_with(user, Permission.VIEW)
    run = Run.objects.filter(pk=run_id, project__in=projects).first()
    if run is None:
        raise NotFound("There is no such run.")
    return run


def standing(grants: Iterable[Grant]) -> dict[Grant, frozenset[uuid.UUID]]:
    """The grants that still hold, with the projects they open; a lost one is missing.

    A few queries for all streams of a process, so that it can be asked every other second.
    """
    asked = set(grants)
    tokens, sessions = _usable_tokens(asked), _valid_sessions(asked)
    held = {
        grant
        for grant in asked
        if (grant.token_id in tokens if grant.token_id else grant.session_key in sessions)
    }
    projects = _projects(held)
    opened = {grant: projects[grant.user_id, grant.permission] for grant in held}
    return {
        grant: found if grant.project_id is None else frozenset({grant.project_id})
        for grant, found in opened.items()
        if grant.project_id is None or grant.project_id in found
    }


def _usable_tokens(grants: set[Grant]) -> set[uuid.UUID]:
    asked = {grant.token_id for grant in grants if grant.token_id}
    if not asked:
        return set()
    usable = ApiToken.objects.filter(
        pk__in=asked,
        revoked_at=None,
        expires_at__gt=timezone.now(),
        user__is_active=True,
        scopes__contains=[Scope.READ],
    )
    return set(usable.values_list("pk", flat=True))


def _valid_sessions(grants: set[Grant]) -> set[str]:
    asked = {grant.session_key for grant in grants if grant.session_key}
    if not asked:
        return set()
    rows = Session.objects.filter(
        session_key__in=asked, expire_date__gt=timezone.now(), user__is_active=True
    )
    return {row.session_key for row in rows.select_related("user") if _is_current(row)}


def _is_current(session: Session) -> bool:
    """A changed password ends the sessions that were opened with the old one."""
    if session.user is None:
        return False
    kept = str(session.get_decoded().get(HASH_SESSION_KEY, ""))
    return constant_time_compare(kept, session.user.get_session_auth_hash())


def _projects(grants: set[Grant]) -> dict[tuple[uuid.UUID, Permission], frozenset[uuid.UUID]]:
    wanted: dict[tuple[uuid.UUID, Permission], set[uuid.UUID | None]] = defaultdict(set)
    for grant in grants:
        wanted[grant.user_id, grant.permission].add(grant.project_id)
    people = User.objects.in_bulk({user_id for user_id, _ in wanted})
    found: dict[tuple[uuid.UUID, Permission], frozenset[uuid.UUID]] = {}
    for (user_id, permission), projects in wanted.items():
        held = projects_with(people[user_id], permission)
        if None not in projects:
            held = held.filter(pk__in=[each for each in projects if each])
        found[user_id, permission] = frozenset(held.values_list("pk", flat=True))
    return found
