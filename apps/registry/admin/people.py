"""People: added, given rights, switched off, handed links to set a password."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Count, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from unfold.contrib.filters.admin import RelatedDropdownFilter

from apps.registry.admin.base import (
    PlatformAdmin,
    ReadOnlyInline,
    RowForm,
    action,
    actor_of,
    display,
)
from apps.registry.admin.filters import DayRangeFilter
from apps.registry.models import ApiToken, AuditEntry, Membership, Project, User
from apps.registry.services import accounts, people

RIGHTS = ("is_staff", "is_superuser", "groups")
EDITABLE = ("email", "name", "time_zone", "is_active", *RIGHTS)


class PersonForm(RowForm):
    """The row is written by a service; here is only checked what was typed."""

    class Meta:
        model = User
        fields = EDITABLE
        labels: ClassVar = {"is_superuser": "Administrator"}
        help_texts: ClassVar = {
            "name": "How others see them.",
            "time_zone": "Such as Europe/Berlin; times are shown to them in it.",
            "is_superuser": "Holds every permission of this console. No project opens by it.",
            "groups": "What an operator may see and change here.",
        }


class MembershipsInline(ReadOnlyInline):
    model = Membership
    fk_name = "user"
    fields = readonly_fields = ("project", "role", "added_by", "added_at")
    verbose_name_plural = "Roles in projects"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        found: QuerySet[Membership] = super().get_queryset(request)
        return found.select_related("project", "user", "added_by")


@admin.register(User)
class PersonAdmin(PlatformAdmin):
    audited_by_service = True
    form = PersonForm
    list_display = ("person", "state", "rights", "projects", "tokens", "last_login", "date_joined")
    list_display_links = ("person",)
    list_filter = (
        "is_active",
        "is_staff",
        "is_superuser",
        ("groups", RelatedDropdownFilter),
        ("last_login", DayRangeFilter),
    )
    search_fields = ("email", "name")
    search_help_text = "Name or email address"
    ordering = ("email",)
    autocomplete_fields = ("groups",)
    add_fieldsets = ((None, {"fields": ("email", "name", "is_staff")}),)
    fieldsets = (
        (None, {"fields": ("email", "name", "time_zone")}),
        ("Access", {"fields": ("is_active", "is_staff", "is_superuser", "groups")}),
        ("Record", {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields = ("last_login", "date_joined")
    inlines = (MembershipsInline,)
    actions = ("switch_off", "switch_on", "make_operators", "make_links", "unlock")
    actions_detail = ("password_link", "unlock_person")

    def get_queryset(self, request: HttpRequest) -> Any:
        usable = Q(revoked_at=None, expires_at__gt=timezone.now())
        projects = Membership.objects.filter(user=OuterRef("pk")).order_by().values("user")
        tokens = ApiToken.objects.filter(usable, user=OuterRef("pk")).order_by().values("user")
        return (
            super()
            .get_queryset(request)
            .annotate(
                project_count=_counted(projects.annotate(n=Count("project", distinct=True))),
                token_count=_counted(tokens.annotate(n=Count("pk"))),
            )
            .prefetch_related("groups")
        )

    @display(description="person", header=True, ordering="email")
    def person(self, user: User) -> list[str]:
        initials = "".join(word[0] for word in str(user).split()[:2]).upper()
        return [user.name or user.email, user.email if user.name else "", initials]

    @display(description="state", label={"active": "success", "off": "danger"})
    def state(self, user: User) -> str:
        return "active" if user.is_active else "off"

    @display(description="rights", label=True)
    def rights(self, user: User) -> list[str]:
        if user.is_superuser:
            return ["administrator"]
        groups = [group.name for group in user.groups.all()]
        return groups or (["operator"] if user.is_staff else [])

    @display(description="projects", ordering="project_count")
    def projects(self, user: Any) -> int:
        return int(user.project_count)

    @display(description="usable tokens", ordering="token_count")
    def tokens(self, user: Any) -> int:
        return int(user.token_count)

    # --- forms ---------------------------------------------------------------------------------

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fixed = tuple(super().get_readonly_fields(request, obj))
        return fixed if actor_of(request).is_superuser else (*fixed, *RIGHTS)

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return self.inlines if obj else ()

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if not super().has_change_permission(request, obj):
            return False
        # Unfold passes the key where Django passes the row.
        if isinstance(obj, str):
            obj = User.objects.filter(pk=obj).first()
        return not isinstance(obj, User) or _may_keep(actor_of(request), obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        allowed = super().has_delete_permission(request, obj)
        return allowed and (not isinstance(obj, User) or _may_keep(actor_of(request), obj))

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        actor = actor_of(request)
        given = {name: form.cleaned_data[name] for name in EDITABLE if name in form.cleaned_data}
        if change:
            changed = {name: given[name] for name in form.changed_data if name in given}
            accounts.update_person(actor=actor, user=obj, **changed)
        else:
            made = people.create_user(actor=actor, **given)
            obj.__dict__.update(made.__dict__)

    def response_add(
        self, request: HttpRequest, obj: Model, post_url_continue: str | None = None
    ) -> HttpResponse:
        elsewhere = "_addanother" in request.POST or "_popup" in request.POST
        if elsewhere or not self.has_change_permission(request, obj):
            return super().response_add(request, obj, post_url_continue)
        self.message_user(request, f"{obj} was added and has no password yet.")
        return HttpResponseRedirect(reverse("admin:registry_user_password_link", args=[obj.pk]))

    # --- removal -------------------------------------------------------------------------------

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Django would list every audit entry that protects a person; one sentence says it."""
        rows = list(objs)
        acted = set(
            AuditEntry.objects.filter(actor__in=rows)
            .order_by()
            .values_list("actor", flat=True)
            .distinct()
        )
        acted |= set(
            Project.objects.filter(created_by__in=rows).values_list("created_by", flat=True)
        )
        kept = [
            f"{row}: has used the platform, and its records refer to them. "
            "Switch the account off instead."
            for row in rows
            if row.pk in acted
        ]
        return [str(row) for row in rows], {"people": len(rows)}, set(), kept

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        accounts.delete_person(actor=actor_of(request), user=obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        actor = actor_of(request)
        for user in queryset:
            accounts.delete_person(actor=actor, user=user)

    # --- actions -------------------------------------------------------------------------------

    def _update(
        self, request: HttpRequest, rows: QuerySet[Any], done: tuple[str, str], **changes: Any
    ) -> None:
        actor = actor_of(request)
        self.apply(
            request,
            rows,
            lambda user: accounts.update_person(actor=actor, user=user, **changes),
            done,
        )

    @admin.action(description="Switch off", permissions=["change"])
    def switch_off(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        rows = queryset.filter(is_active=True)
        self._update(
            request, rows, ("{} person switched off.", "{} people switched off."), is_active=False
        )

    @admin.action(description="Switch on", permissions=["change"])
    def switch_on(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        rows = queryset.filter(is_active=False)
        self._update(
            request, rows, ("{} person switched on.", "{} people switched on."), is_active=True
        )

    @admin.action(description="Make operators", permissions=["change"])
    def make_operators(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        rows = queryset.filter(is_staff=False)
        done = ("{} person is an operator now.", "{} people are operators now.")
        self._update(request, rows, done, is_staff=True)

    @admin.action(description="Make links to set a password", permissions=["change"])
    def make_links(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse:
        links: list[tuple[User, str]] = []
        actor = actor_of(request)

        def make(user: User) -> None:
            links.append((user, people.make_password_link(actor=actor, user=user)))

        rows = queryset.filter(is_active=True)
        self.apply(request, rows, make, ("{} link made.", "{} links made."))
        return self.page(
            request, "admin/password_links.html", title="Links to set a password", links=links
        )

    @admin.action(description="Unlock sign-in", permissions=["change"])
    def unlock(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        actor = actor_of(request)
        self.apply(
            request,
            queryset,
            lambda user: accounts.unlock_sign_in(actor=actor, email=user.email) > 0,
            ("{} person unlocked.", "{} people unlocked."),
        )

    @action(description="Password link", icon="link", permissions=["change"])
    def password_link(self, request: HttpRequest, object_id: str) -> HttpResponse:
        user = self.found(request, object_id)
        if request.method == "POST":
            link = people.make_password_link(actor=actor_of(request), user=user)
            return self.page(
                request,
                "admin/password_links.html",
                title="Link to set a password",
                links=[(user, link)],
                back=self.change_url(user),
            )
        return self.page(
            request,
            "admin/confirm.html",
            title="Link to set a password",
            row=user,
            back=self.change_url(user),
            lines=[
                f"Whoever opens the link can choose a password for {user.email} and sign in.",
                "It is shown once, works once, and expires after three days.",
            ],
            button="Make the link",
        )

    @action(description="Unlock", icon="lock_open", permissions=["change"])
    def unlock_person(self, request: HttpRequest, object_id: str) -> HttpResponse:
        user = self.found(request, object_id)

        def change() -> str:
            count = accounts.unlock_sign_in(actor=actor_of(request), email=user.email)
            return f"{user} can sign in again." if count else f"{user} was not locked."

        lines = [f"Wrong passwords typed for {user.email} are forgotten; it can sign in at once."]
        return self.confirm(
            request, user, change, title="Unlock sign-in", lines=lines, button="Unlock"
        )


def _counted(rows: Any) -> Any:
    return Coalesce(Subquery(rows.values("n")), 0)


def _may_keep(actor: User, user: User) -> bool:
    return actor.is_superuser or actor == user or not (user.is_staff or user.is_superuser)
