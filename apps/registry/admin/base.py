"""What all pages of the admin console share: changes through services, each one audited."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold import decorators

from apps.registry.admin import lookups
from apps.registry.models import AuditAction, User
from apps.registry.services import audit
from omni.contracts.errors import ErrorCategory, OmniError
from omni.contracts.errors import PermissionDenied as Denied

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin, TabularInline
    from django.forms import ModelForm

    Page = ModelAdmin[Any]
    Inline = TabularInline[Any, Any]
    RowForm = ModelForm[Any]
else:
    from django.forms import ModelForm
    from unfold.admin import ModelAdmin as Page
    from unfold.admin import TabularInline as Inline

    RowForm = ModelForm


Method = TypeVar("Method", bound=Callable[..., Any])


def display(**options: Any) -> Callable[[Method], Method]:
    """A column or read-only field; the theme's decorator with the types that it lacks."""
    return cast(Callable[[Method], Method], decorators.display(**options))


def action(**options: Any) -> Callable[[Method], Method]:
    """A button on a row's page, which leads to a page of its own."""
    return cast(Callable[[Method], Method], decorators.action(**options))


def actor_of(request: HttpRequest) -> User:
    return cast(User, request.user)


def record_refusal(request: HttpRequest, error: OmniError) -> None:
    audit.record_denial(
        error, actor=actor_of(request), method=request.method or "", path=request.path
    )


class PlatformAdmin(Page):
    """A model's pages. Refusals of a service become a message, changes become audit entries."""

    list_per_page = 50
    list_filter_submit = True
    list_fullwidth = True
    warn_unsaved_form = True
    has_history: ClassVar[bool] = True
    # True where the services themselves record what was done.
    audited_by_service: ClassVar[bool] = False
    # Beside what the filters of the list offer: what links from other pages ask it for.
    linked_lookups: ClassVar[tuple[str, ...]] = ()

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        return request is not None and lookup in lookups.offered(self, request)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """What an address fills in for a new row, without keys that no row can have."""
        given = super().get_changeform_initial_data(request)
        return {k: v for k, v in given.items() if lookups.is_possible(self.model, k, v)}

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        shown = {"show_history": self.has_history, **(extra_context or {})}
        try:
            return super().changeform_view(request, object_id, form_url, shown)
        except OmniError as error:
            return self.refused(request, error)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        """A refusal that rises undoes the whole action; `apply` reports row by row instead."""
        self._note_refused_action(request)
        try:
            with transaction.atomic():
                answer = super().changelist_view(request, extra_context)
                # The database is asked while the page is made, so it is made here.
                return answer.render() if isinstance(answer, TemplateResponse) else answer
        except OmniError as error:
            return self.refused(request, error)
        except lookups.IMPOSSIBLE:
            plain = lookups.without_query(request)
            if plain is None:
                raise
            return plain

    def _note_refused_action(self, request: HttpRequest) -> None:
        """Django offers only the actions that are permitted, and is silent about the others."""
        asked = request.POST.get("action", "") if request.method == "POST" else ""
        known = {*(self.actions or ()), "delete_selected"}
        if asked in known and asked not in self.get_actions(request):
            data = {"permission": f"{self.opts.label_lower}: {asked}"}
            record_refusal(request, Denied("You may not do this.", data=data))

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> Any:
        """The audit log knows what happened through every door, not only this one."""
        row = self.found(request, object_id, change=False)
        if not (self.has_history and request.user.has_perm("registry.view_auditentry")):
            return super().history_view(request, object_id, extra_context)
        about = urlencode({"target_type": self.opts.model_name, "target_id": str(row.pk)})
        return HttpResponseRedirect(f"{reverse('admin:registry_auditentry_changelist')}?{about}")

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> Any:
        try:
            return super().delete_view(request, object_id, extra_context)
        except OmniError as error:
            return self.refused(request, error)

    def refused(self, request: HttpRequest, error: OmniError) -> HttpResponse:
        """Back to where the person was, with what the service said."""
        self.explain(request, error)
        return HttpResponseRedirect(request.get_full_path())

    def explain(self, request: HttpRequest, error: OmniError, about: str = "") -> None:
        """Say what a service refused; that somebody lacked a permission is on record too."""
        if error.category is ErrorCategory.PERMISSION_DENIED:
            record_refusal(request, error)
        self.message_user(request, f"{about}: {error}" if about else str(error), messages.ERROR)

    def apply(
        self,
        request: HttpRequest,
        rows: Iterable[Any],
        change: Callable[[Any], object],
        done: tuple[str, str],
    ) -> int:
        """Run a service on each row; report how many it changed and why it refused others."""
        count = 0
        for row in rows:
            label = str(row)
            try:
                count += change(row) is not False
            except OmniError as error:
                self.explain(request, error, label)
        level = messages.SUCCESS if count else messages.WARNING
        self.message_user(request, done[count != 1].format(count), level)
        return count

    def confirm(
        self, request: HttpRequest, row: Model, change: Callable[[], str], **context: Any
    ) -> HttpResponse:
        """A page that asks before it acts: links carry no CSRF token, so GET changes nothing."""
        back = self.change_url(row)
        if request.method != "POST":
            return self.page(request, "admin/confirm.html", row=row, back=back, **context)
        try:
            self.message_user(request, change(), messages.SUCCESS)
        except OmniError as error:
            self.explain(request, error)
        return HttpResponseRedirect(back)

    def page(self, request: HttpRequest, template: str, **context: Any) -> TemplateResponse:
        request.current_app = self.admin_site.name
        everything = {**self.admin_site.each_context(request), "opts": self.opts, **context}
        return TemplateResponse(request, template, everything)

    def found(self, request: HttpRequest, object_id: str, *, change: bool = True) -> Any:
        """The row behind a page's address, for those who may change (or at least view) it."""
        allowed = self.has_change_permission if change else self.has_view_permission
        row = self.get_object(request, object_id)
        if row is None:
            raise Http404
        if not allowed(request, row):
            raise PermissionDenied
        return row

    def change_url(self, row: Model) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[row.pk])

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Where a service writes the row, it writes what belongs to it too."""
        if not self.audited_by_service:
            super().save_related(request, form, formsets, change)
            return
        for formset in formsets:
            self.save_formset(request, form, formset, change)

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        self._record(request, obj, {"added": self.opts.model_name})
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        self._record(request, obj, {"changed": self.opts.model_name, "what": message})
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        for obj in queryset:
            self._record(request, obj, {"deleted": self.opts.model_name})
        return super().log_deletions(request, queryset)

    def _record(self, request: HttpRequest, obj: Model, data: dict[str, Any]) -> None:
        if not self.audited_by_service:
            actor = actor_of(request)
            audit.record(AuditAction.ADMIN_CHANGED, actor=actor, target=obj, data=data)


class ReadOnly:
    """Rows that only the platform itself writes."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnly, PlatformAdmin):
    has_history = False


class ReadOnlyInline(ReadOnly, Inline):
    extra = 0
    can_delete = False
    show_change_link = False
