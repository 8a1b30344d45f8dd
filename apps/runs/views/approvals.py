"""The inbox of questions that runs ask people, and their answers."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from apps.registry.permissions import may, require
from apps.registry.roles import Permission
from apps.registry.views.doors import signed_in, status_of
from apps.runs import selectors
from apps.runs.forms import AnswerForm
from apps.runs.models import Approval
from apps.runs.selectors.inbox import pending_for
from apps.runs.services.approvals import answer_approval
from apps.runs.timeline.items import approval_blocks
from apps.runs.timeline.people import People
from apps.runs.views.doors import approval_page
from omni.contracts.errors import Conflict, InvalidInput

PAGE = 25
PENDING = 100


@login_required
@require_GET
def approval_list(request: HttpRequest) -> HttpResponse:
    return render(request, "runs/approval_list.html", _inbox(request))


@login_required
@require_GET
def approval_rows(request: HttpRequest) -> HttpResponse:
    """The lists alone, for the page's live update."""
    return render(request, "runs/_approvals.html", _inbox(request))


@login_required
@require_GET
def approval_count(request: HttpRequest) -> HttpResponse:
    """How many wait for this person; what the navigation shows."""
    context = {"count": pending_for(signed_in(request)).count()}
    return render(request, "workspace/_nav_count.html", context)


@approval_page
@require_http_methods(["GET", "POST"])
def approval_detail(request: HttpRequest, approval: Approval) -> HttpResponse:
    form = AnswerForm(request.POST if request.method == "POST" else None)
    is_inline = request.headers.get("HX-Target") == f"approval-{approval.pk}"
    if request.method == "POST":
        require(signed_in(request), Permission.APPROVE, approval.project)
        told = _answer(request, approval, form)
        if told and is_inline:
            approval = selectors.visible_approval(signed_in(request), approval.pk)
            return _panel(request, approval, told=told)
        if told:
            messages.info(request, told)
            return redirect("runs:approval_list")
    context = {**_about(request, approval), "form": form}
    return render(request, "runs/approval.html", context, status=status_of(form))


@approval_page
@require_GET
def approval_panel(request: HttpRequest, approval: Approval) -> HttpResponse:
    """Where it stands, within a timeline; with buttons for those who may answer."""
    return _panel(request, approval)


def _panel(request: HttpRequest, approval: Approval, told: str = "") -> HttpResponse:
    context = {**_about(request, approval), "told": told}
    return render(request, "runs/_approval_panel.html", context)


def _answer(request: HttpRequest, approval: Approval, form: AnswerForm) -> str:
    """What to tell the person; nothing if what they entered must be corrected."""
    if not form.is_valid():
        return ""
    try:
        _, was_first = answer_approval(
            actor=signed_in(request), approval=approval, **form.cleaned_data
        )
    except Conflict as error:
        return str(error)
    except InvalidInput as error:
        form.add_error("answer", str(error))
        return ""
    return "Your answer is recorded." if was_first else "You had answered so already."


def _about(request: HttpRequest, approval: Approval) -> dict[str, Any]:
    people = People()
    people.learn([approval.answered_by])
    return {
        "approval": approval,
        "run": approval.run,
        "project": approval.project,
        "who": people.name(approval.answered_by),
        "blocks": approval_blocks(approval.detail),
        "may_answer": may(signed_in(request), Permission.APPROVE, approval.project),
    }


def _inbox(request: HttpRequest) -> dict[str, Any]:
    found = selectors.visible_approvals(signed_in(request))
    pending = found.filter(state=Approval.State.PENDING).order_by("requested_at", "id")
    settled = found.exclude(state=Approval.State.PENDING).order_by("-settled_at", "id")
    page = Paginator(settled, PAGE).get_page(request.GET.get("page"))
    people = People()
    people.learn(approval.answered_by for approval in page)
    history = [(approval, people.name(approval.answered_by)) for approval in page]
    return {"pending": pending[:PENDING], "page": page, "history": history}
