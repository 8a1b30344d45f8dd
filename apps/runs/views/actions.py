"""What a person can do to a run: stop it, nudge it, repeat it. Each asks first."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from apps.registry.permissions import require
from apps.registry.roles import Permission
from apps.registry.views.doors import signed_in, status_of, submit
from apps.runs.forms import CancelForm, RetryForm
from apps.runs.models import Run
from apps.runs.services.rollback import roll_back
from apps.runs.services.runs import cancel_run, resume_run, retry_run
from apps.runs.views.doors import run_page
from omni.contracts.errors import Conflict


@run_page
@require_http_methods(["GET", "POST"])
def cancel(request: HttpRequest, run: Run) -> HttpResponse:
    user = signed_in(request)
    require(user, Permission.OPERATE, run.project)
    form = CancelForm(request.POST if request.method == "POST" else None)
    stopped: list[bool] = []
    if request.method == "POST" and submit(
        form, lambda data: stopped.append(cancel_run(actor=user, run=run, reason=data["reason"]))
    ):
        if stopped[0]:
            messages.success(request, "The run is asked to stop.")
        else:
            messages.info(request, "There was nothing left to stop.")
        return redirect("runs:run_detail", run.pk)
    return _ask(
        request,
        run,
        form=form,
        title="Cancel this run?",
        message="It makes no further call. What it did so far stays, and so do its effects.",
        confirm_label="Cancel run",
        danger=True,
    )


@run_page
@require_http_methods(["GET", "POST"])
def resume(request: HttpRequest, run: Run) -> HttpResponse:
    require(signed_in(request), Permission.OPERATE, run.project)
    if request.method == "POST":
        try:
            is_new = resume_run(actor=signed_in(request), run=run)
        except Conflict as error:
            messages.error(request, str(error))
        else:
            said = "A worker looks at the run now." if is_new else "A worker has it already."
            messages.success(request, said)
        return redirect("runs:run_detail", run.pk)
    return _ask(
        request,
        run,
        title="Resume this run?",
        message="Runs go on by themselves. If this one seems to stand still, this has a worker "
        "look at it at once; nothing that is done already is repeated.",
        confirm_label="Resume run",
    )


@run_page
@require_http_methods(["GET", "POST"])
def retry(request: HttpRequest, run: Run) -> HttpResponse:
    user = signed_in(request)
    require(user, Permission.OPERATE, run.project)
    form = RetryForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            again = retry_run(actor=user, run=run, run_id=form.cleaned_data["run_id"])
        except Conflict as error:
            messages.error(request, str(error))
            return redirect("runs:run_detail", run.pk)
        messages.success(request, "A new run with the same input has started.")
        return redirect("runs:run_detail", again.pk)
    return _ask(
        request,
        run,
        form=form,
        title="Retry this run?",
        message="A new run starts with the same input, beside this one. Tools that changed "
        "something may change it again.",
        confirm_label="Start again",
    )


@run_page
@require_http_methods(["GET", "POST"])
def rollback(request: HttpRequest, run: Run) -> HttpResponse:
    user = signed_in(request)
    require(user, Permission.OPERATE, run.project)
    if request.method == "POST":
        try:
            undoing = roll_back(actor=user, run=run)
        except Conflict as error:
            messages.error(request, str(error))
            return redirect("runs:run_detail", run.pk)
        messages.success(request, "This run puts the files back.")
        return redirect("runs:run_detail", undoing.pk)
    return _ask(
        request,
        run,
        title="Roll back its changes?",
        message="Another run puts the files back as they were before. A file that somebody has "
        "changed since is left alone, and the policy decides as for any run.",
        confirm_label="Roll back",
    )


def _ask(request: HttpRequest, run: Run, **question: Any) -> HttpResponse:
    context = {"cancel_url": reverse("runs:run_detail", args=[run.pk]), **question}
    form = question.get("form")
    status = status_of(form) if form is not None else 200
    return render(request, "workspace/_confirm.html", context, status=status)
