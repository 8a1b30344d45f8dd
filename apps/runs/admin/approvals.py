"""The queue of questions that runs ask, with a page to answer them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.contrib.filters.admin import AutocompleteSelectFilter, ChoicesDropdownFilter
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from apps.registry.admin.base import ReadOnlyAdmin, action, actor_of, display
from apps.registry.admin.filters import DayRangeFilter
from apps.registry.models import AuditAction
from apps.registry.services import audit
from apps.runs.models import Approval
from apps.runs.services.approvals import answer_approval
from omni.contracts.errors import OmniError

COLOURS = {
    "pending": "warning", "answered": "success", "expired": "danger", "withdrawn": "info",
}  # fmt: skip


class AnswerForm(forms.Form):
    answer = forms.ChoiceField(widget=UnfoldAdminSelectWidget)
    reason = forms.CharField(required=False, max_length=1000, widget=UnfoldAdminTextInputWidget)

    def __init__(self, options: list[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["answer"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [(each, each) for each in options]


@admin.register(Approval)
class ApprovalAdmin(ReadOnlyAdmin):
    list_display = ("title", "queue", "project", "run", "answer", "requested_at", "expires_at")
    list_filter = (
        ("state", ChoicesDropdownFilter),
        ("project", AutocompleteSelectFilter),
        ("requested_at", DayRangeFilter),
    )
    search_fields = ("title", "project__slug", "=id", "=run__id", "answered_by")
    search_help_text = "Question, project, id, run or who answered"
    list_select_related = ("project", "run")
    # What waits longest comes first.
    ordering = ("settled_at", "requested_at", "id")
    fieldsets = (
        (None, {"fields": ("id", "title", "queue", "detail", "options", "project", "run")}),
        ("Answer", {"fields": ("answer", "reason", "answered_by", "settled_at")}),
        ("Asked", {"fields": ("requested_seq", "requested_at", "expires_at")}),
    )
    readonly_fields = ("id", "queue")
    actions_detail = ("answer_question",)

    @display(description="state", ordering="state", label=COLOURS)
    def queue(self, approval: Approval) -> str:
        return approval.state

    def has_answer_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return actor_of(request).has_perm("runs.change_approval")

    @action(description="Answer", icon="rule", permissions=["view", "answer"])
    def answer_question(self, request: HttpRequest, object_id: str) -> HttpResponse:
        approval = self.found(request, object_id, change=False)
        form = AnswerForm(approval.options, request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                _answer(request, approval, **form.cleaned_data)
                self.message_user(request, "The answer is recorded.", messages.SUCCESS)
                return HttpResponseRedirect(self.change_url(approval))
            except OmniError as error:
                form.add_error(None, str(error))
        return self.page(
            request,
            "admin/answer.html",
            title="Answer",
            row=approval,
            form=form,
            back=self.change_url(approval),
        )


def _answer(request: HttpRequest, approval: Approval, *, answer: str, reason: str) -> None:
    person = actor_of(request)
    _, was_this = answer_approval(
        actor=person, approval=approval, answer=answer, reason=reason, as_operator=True
    )
    if was_this:
        audit.record(
            AuditAction.ADMIN_CHANGED,
            actor=person,
            project=approval.project,
            target=approval,
            data={"changed": "approval", "what": answer} | audit.operator_mark(True),
        )
