"""Projects, their members' roles, and the object permissions that follow from them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AutocompleteSelect
from django.db.models import Count, OuterRef, Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminEmailInputWidget,
)

from apps.registry.admin.base import (
    PlatformAdmin,
    ReadOnlyInline,
    RowForm,
    action,
    actor_of,
    display,
)
from apps.registry.admin.filters import DayRangeFilter
from apps.registry.models import Membership, Project, ProjectUserObjectPermission, User
from apps.registry.roles import DESCRIPTIONS, Role
from apps.registry.selectors import members_of
from apps.registry.services import members, projects
from omni.contracts.errors import OmniError


class ArchivedFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("active", "Active"), ("archived", "Archived")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() in ("active", "archived"):
            return queryset.filter(archived_at__isnull=self.value() == "active")
        return queryset


class ProjectForm(RowForm):
    owner = forms.ModelChoiceField(User.objects.filter(is_active=True), required=False)

    class Meta:
        model = Project
        fields = ("name", "slug", "description")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "slug" in self.fields:
            self.fields["slug"].required = False
            self.fields["slug"].help_text = "In addresses; made from the name if left empty."


class RolesForm(forms.Form):
    """Which roles one person holds in the project; none removes them from it."""

    email = forms.EmailField(
        label="Person",
        help_text="The email address with which they sign in.",
        widget=UnfoldAdminEmailInputWidget,
    )
    roles = forms.TypedMultipleChoiceField(
        choices=[(role.value, f"{role.label}: {DESCRIPTIONS[role]}") for role in Role],
        coerce=Role,
        required=False,
        help_text="Without any, the person is no member.",
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )

    def clean_email(self) -> str:
        email = str(self.cleaned_data["email"]).strip().lower()
        if not User.objects.filter(email=email).exists():
            raise forms.ValidationError("There is no person with this address.")
        return email


class MembersInline(ReadOnlyInline):
    model = Membership
    fields = readonly_fields = ("user", "role", "added_by", "added_at")
    verbose_name_plural = "Members"
    tab = True
    per_page = 20

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        found: QuerySet[Membership] = super().get_queryset(request)
        return found.select_related("user", "project", "added_by").order_by("user__email", "role")


class PermissionsInline(ReadOnlyInline):
    model = ProjectUserObjectPermission
    fields = readonly_fields = ("user", "may")
    verbose_name_plural = "Object permissions"
    tab = True
    per_page = 20

    def get_queryset(self, request: HttpRequest) -> QuerySet[ProjectUserObjectPermission]:
        found: QuerySet[ProjectUserObjectPermission] = super().get_queryset(request)
        return found.select_related("user", "permission").order_by("user__email", "permission")

    @display(description="may")
    def may(self, row: ProjectUserObjectPermission) -> str:
        return row.permission.name


@admin.register(Project)
class ProjectAdmin(PlatformAdmin):
    audited_by_service = True
    form = ProjectForm
    list_display = ("name", "slug", "state", "owners", "people", "created_at", "updated_at")
    list_filter = (ArchivedFilter, ("created_at", DayRangeFilter))
    search_fields = ("name", "slug", "description", "memberships__user__email")
    search_help_text = "Name, short name, description, or a member's address"
    date_hierarchy = "created_at"
    ordering = ("name",)
    autocomplete_fields = ("created_by",)
    add_fieldsets = ((None, {"fields": ("name", "slug", "description", "owner")}),)
    fieldsets = (
        (None, {"fields": ("name", "slug", "description")}),
        ("Record", {"fields": ("created_by", "created_at", "updated_at", "archived_at")}),
    )
    readonly_fields = ("slug", "created_by", "created_at", "updated_at", "archived_at")
    inlines = (MembersInline, PermissionsInline)
    actions = ("archive", "restore")
    actions_detail = ("change_roles", "archive_project", "restore_project")

    def get_queryset(self, request: HttpRequest) -> Any:
        owners = Membership.objects.filter(role=Role.OWNER).select_related("user")
        people = Membership.objects.filter(project=OuterRef("pk")).order_by().values("project")
        return (
            super()
            .get_queryset(request)
            .annotate(people_n=people.annotate(n=Count("user", distinct=True)).values("n"))
            .prefetch_related(Prefetch("memberships", owners, to_attr="owner_rows"))
        )

    @display(description="state", label={"active": "success", "archived": "warning"})
    def state(self, project: Project) -> str:
        return "archived" if project.is_archived else "active"

    @display(description="owners")
    def owners(self, project: Any) -> str:
        return ", ".join(str(row.user) for row in project.owner_rows)

    @display(description="members", ordering="people_n")
    def people(self, project: Any) -> int:
        return int(project.people_n or 0)

    # --- forms ---------------------------------------------------------------------------------

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A project is archived: its history must stay."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.readonly_fields if obj else ()

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return self.inlines if obj else ()

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kw: Any
    ) -> Any:
        form = super().get_form(request, obj, change=change, **kw)
        if "owner" in form.base_fields:
            field: Any = form.base_fields["owner"]
            related = Membership._meta.get_field("user")
            field.widget = AutocompleteSelect(related, self.admin_site)
            field.widget.choices = field.choices
            field.help_text = "Who owns the project; you, if nobody is named."
        return form

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        actor, data = actor_of(request), form.cleaned_data
        given = {key: data[key] for key in ("name", "description") if key in data}
        if change:
            projects.update_project(actor=actor, project=obj, as_operator=True, **given)
        else:
            made = projects.create_project(
                actor=actor, slug=data.get("slug", ""), owner=data.get("owner"), **given
            )
            obj.__dict__.update(made.__dict__)

    # --- actions -------------------------------------------------------------------------------

    @admin.action(description="Archive", permissions=["change"])
    def archive(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        actor = actor_of(request)
        self.apply(
            request,
            queryset.filter(archived_at=None),
            lambda row: projects.archive_project(actor=actor, project=row, as_operator=True),
            ("{} project archived.", "{} projects archived."),
        )

    @admin.action(description="Restore", permissions=["change"])
    def restore(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        actor = actor_of(request)
        self.apply(
            request,
            queryset.exclude(archived_at=None),
            lambda row: projects.restore_project(actor=actor, project=row, as_operator=True),
            ("{} project restored.", "{} projects restored."),
        )

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> Any:
        """Only what can be done to this project as it is."""
        archived = Project.objects.filter(pk=object_id).exclude(archived_at=None).exists()
        hidden = "archive_project" if archived else "restore_project"
        found = super().get_actions_detail(request, object_id)  # type: ignore[misc]
        return [each for each in found if not each.action_name.endswith(hidden)]

    @action(description="Archive", icon="archive", permissions=["change"])
    def archive_project(self, request: HttpRequest, object_id: str) -> HttpResponse:
        row = self.found(request, object_id)

        def change() -> str:
            projects.archive_project(actor=actor_of(request), project=row, as_operator=True)
            return f"{row} is archived."

        lines = ["It disappears from lists and takes no new work. Nothing is deleted."]
        return self.confirm(
            request, row, change, title="Archive project", lines=lines, button="Archive"
        )

    @action(description="Restore", icon="unarchive", permissions=["change"])
    def restore_project(self, request: HttpRequest, object_id: str) -> HttpResponse:
        row = self.found(request, object_id)

        def change() -> str:
            projects.restore_project(actor=actor_of(request), project=row, as_operator=True)
            return f"{row} is active again."

        lines = ["Its members see it in their lists again and can work in it."]
        return self.confirm(
            request, row, change, title="Restore project", lines=lines, button="Restore"
        )

    def has_manage_members_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return actor_of(request).has_perm("registry.change_membership")

    @action(description="Change roles", icon="badge", permissions=["view", "manage_members"])
    def change_roles(self, request: HttpRequest, object_id: str) -> HttpResponse:
        project = self.found(request, object_id, change=False)
        form = RolesForm(request.POST or None, initial=_held(project, request.GET.get("person")))
        if request.method == "POST" and form.is_valid():
            user = User.objects.get(email=form.cleaned_data["email"])
            try:
                members.set_member_roles(
                    actor=actor_of(request),
                    project=project,
                    user=user,
                    roles=set(form.cleaned_data["roles"]),
                    as_operator=True,
                )
                self.message_user(request, f"Roles of {user} are saved.", messages.SUCCESS)
                return HttpResponseRedirect(request.path)
            except OmniError as error:
                form.add_error(None, str(error))
        return self.page(
            request,
            "admin/project_roles.html",
            title="Change roles",
            row=project,
            back=self.change_url(project),
            form=form,
            members=members_of(project),
        )


def _held(project: Project, email: str | None) -> dict[str, Any]:
    """The form as it stands for one member, chosen in the list beside it."""
    if not email:
        return {}
    rows = Membership.objects.filter(project=project, user__email=email)
    return {"email": email, "roles": list(rows.values_list("role", flat=True))}
