"""What every page of a run passes: sign-in, visibility, refusals on record."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar, cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from apps.registry.views.doors import record_denial, signed_in
from apps.runs import selectors
from apps.runs.models import Approval, Run
from omni.contracts.errors import PermissionDenied

P = ParamSpec("P")
Answer = TypeVar("Answer", bound=HttpResponseBase)


def run_page(
    view: Callable[Concatenate[HttpRequest, Run, P], Answer],
) -> Callable[Concatenate[HttpRequest, uuid.UUID, P], Answer]:
    """A page of a run: strangers find nothing, a refused member is on record."""

    @login_required
    @functools.wraps(view)
    def door(request: HttpRequest, run_id: uuid.UUID, *args: P.args, **kwargs: P.kwargs) -> Answer:
        run = selectors.visible_run(signed_in(request), run_id)
        try:
            return view(request, run, *args, **kwargs)
        except PermissionDenied as error:
            record_denial(request, run.project, error)
            raise

    return cast(Callable[Concatenate[HttpRequest, uuid.UUID, P], Answer], door)


def approval_page(
    view: Callable[Concatenate[HttpRequest, Approval, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, uuid.UUID, P], HttpResponse]:
    """A page about one approval, by the same rules."""

    @login_required
    @functools.wraps(view)
    def door(
        request: HttpRequest, approval_id: uuid.UUID, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        approval = selectors.visible_approval(signed_in(request), approval_id)
        try:
            return view(request, approval, *args, **kwargs)
        except PermissionDenied as error:
            record_denial(request, approval.project, error)
            raise

    return cast(Callable[Concatenate[HttpRequest, uuid.UUID, P], HttpResponse], door)
