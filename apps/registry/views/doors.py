"""What every page of a project or an account passes: sign-in, visibility, refusals on record."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, cast

from django.contrib.auth.decorators import login_required
from django.forms import Form
from django.http import HttpRequest, HttpResponse

from apps.registry import selectors
from apps.registry.models import Project, User
from apps.registry.services import audit
from omni.contracts.errors import Conflict, InvalidInput, PermissionDenied

P = ParamSpec("P")
INVALID = 422


def signed_in(request: HttpRequest) -> User:
    """The person behind a request that `login_required` let through."""
    return cast(User, request.user)


def member_page(
    view: Callable[Concatenate[HttpRequest, Project, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, str, P], HttpResponse]:
    """A page of a project: strangers find nothing, a refused member is on record."""

    @login_required
    @functools.wraps(view)
    def door(request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        project = selectors.visible_project(signed_in(request), slug)
        try:
            return view(request, project, *args, **kwargs)
        except PermissionDenied as error:
            record_denial(request, project, error)
            raise

    return cast(Callable[Concatenate[HttpRequest, str, P], HttpResponse], door)


def record_denial(request: HttpRequest, project: Project, error: PermissionDenied) -> None:
    """Into the audit log; by now the refused work has been rolled back."""
    error.data.setdefault("project", str(project.pk))
    audit.record_denial(
        error, actor=signed_in(request), method=request.method or "", path=request.path
    )


def submit(form: Form, action: Callable[[dict[str, Any]], object]) -> bool:
    """Run `action` on what was entered; what a service refuses is said beside the field."""
    if not form.is_valid():
        return False
    try:
        action(form.cleaned_data)
    except (InvalidInput, Conflict) as error:
        _explain(form, error)
        return False
    return True


def status_of(form: Form) -> int:
    return INVALID if form.is_bound and form.errors else 200


def _explain(form: Form, error: InvalidInput | Conflict) -> None:
    errors: dict[str, list[str]] = error.data.get("errors") or {"": [str(error)]}
    if isinstance(error, Conflict):
        # Its sentence also names what is in the way, such as a short name nobody typed.
        errors = {name: [str(error)] for name in errors}
    for name, messages in errors.items():
        for message in messages:
            form.add_error(name if name in form.fields else None, message)
