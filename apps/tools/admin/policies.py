"""Policies in the admin console: published for good, put in force, withdrawn; rules with origin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from apps.registry.admin.base import (
    PlatformAdmin,
    ReadOnlyAdmin,
    RowForm,
    action,
    actor_of,
    display,
)
from apps.registry.admin.filters import DayRangeFilter
from apps.tools.admin.documents import DocumentField, refusals
from apps.tools.models import PolicyVersion, ProjectPolicy, ProjectRule
from apps.tools.policy.check import check_policy
from apps.tools.policy.words import rule_in_words
from apps.tools.services import policies

EFFECTS = {"deny": "danger", "ask": "warning", "allow": "success"}


class NewPolicyForm(RowForm):
    document = DocumentField(help_text="A policy of the platform; it never changes once published.")

    class Meta:
        model = PolicyVersion
        fields = ("document",)

    def clean_document(self) -> Any:
        with refusals():
            check_policy(self.cleaned_data["document"])
        return self.cleaned_data["document"]


@admin.register(PolicyVersion)
class PolicyVersionAdmin(PlatformAdmin):
    audited_by_service = True
    form = NewPolicyForm
    list_display = ("name", "version", "belongs_to", "rule_count", "otherwise", "published_at")
    list_filter = (("project", AutocompleteSelectFilter), ("published_at", DayRangeFilter))
    search_fields = ("name", "version", "sha256", "project__slug", "project__name")
    search_help_text = "Name, version, hash or project"
    list_select_related = ("project", "published_by")
    add_fieldsets = ((None, {"fields": ("document",)}),)
    fieldsets = (
        (None, {"fields": ("name", "version", "sha256", "project")}),
        ("Rules", {"fields": ("rules_in_words", "document")}),
        ("Record", {"fields": ("published_by", "published_at")}),
    )
    actions_detail = ("put_in_force",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ()
        fixed = ("name", "version", "sha256", "project", "rules_in_words", "document")
        return (*fixed, "published_by", "published_at")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_decide_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return actor_of(request).has_perm("tools.change_projectpolicy")

    @display(description="belongs to", ordering="project__name")
    def belongs_to(self, policy: PolicyVersion) -> str:
        return str(policy.project) if policy.project else "the whole platform"

    @display(description="rules")
    def rule_count(self, policy: PolicyVersion) -> int:
        return len(policy.document.get("rules", ()))

    @display(description="otherwise", label=EFFECTS)
    def otherwise(self, policy: PolicyVersion) -> str:
        return str(policy.document.get("default", ""))

    @display(description="in words")
    def rules_in_words(self, policy: PolicyVersion) -> str:
        return "\n".join(rule_in_words(rule) for rule in policy.declared["rules"])

    @action(description="Put in force", icon="gavel", permissions=["view", "decide"])
    def put_in_force(self, request: HttpRequest, object_id: str) -> HttpResponse:
        policy = self.found(request, object_id, change=False)
        where = str(policy.project) if policy.project else "every project"

        def change() -> str:
            policies.put_policy_in_force(
                actor=actor_of(request), policy=policy, project=policy.project, as_operator=True
            )
            return f"{policy} decides in {where} from now on."

        return self.confirm(
            request,
            policy,
            change,
            title="Put in force",
            button="Put in force",
            lines=(f"It decides in {where} at once, instead of the version before.",),
        )

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        document = form.cleaned_data["document"]
        made, _ = policies.publish_policy(actor=actor_of(request), document=document)
        obj.pk = made.pk


@admin.register(ProjectPolicy)
class ProjectPolicyAdmin(ReadOnlyAdmin):
    list_display = ("policy", "where", "decides", "put_by", "put_at", "withdrawn_at")
    list_filter = (
        ("project", AutocompleteSelectFilter),
        ("put_at", DayRangeFilter),
        ("withdrawn_at", DayRangeFilter),
    )
    search_fields = ("name", "policy__version", "project__slug", "project__name")
    search_help_text = "Policy, version or project"
    list_select_related = ("policy", "project", "put_by", "withdrawn_by")
    fields = ("policy", "where", "decides", "put_by", "put_at", "withdrawn_by", "withdrawn_at")
    readonly_fields = ("where", "decides", "put_at")
    actions = ("withdraw",)

    def has_decide_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return actor_of(request).has_perm("tools.change_projectpolicy")

    @display(description="where", ordering="project__name")
    def where(self, row: ProjectPolicy) -> str:
        return str(row.project) if row.project else "everywhere"

    @display(description="decides", boolean=True)
    def decides(self, row: ProjectPolicy) -> bool:
        return row.withdrawn_at is None

    @admin.action(description="Withdraw", permissions=["decide"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[ProjectPolicy]) -> None:
        def change(row: ProjectPolicy) -> bool:
            if row.withdrawn_at is not None:
                return False
            policies.withdraw_policy(
                actor=actor_of(request), project=row.project, name=row.name, as_operator=True
            )
            return True

        done = ("{} policy is withdrawn.", "{} policies are withdrawn.")
        self.apply(request, queryset.select_related("project", "policy"), change, done)


@admin.register(ProjectRule)
class ProjectRuleAdmin(ReadOnlyAdmin):
    list_display = ("rule_id", "effect", "in_words", "project", "added_by", "added_at", "counts")
    list_filter = (
        ("project", AutocompleteSelectFilter),
        ("added_at", DayRangeFilter),
        ("withdrawn_at", DayRangeFilter),
    )
    search_fields = ("rule_id", "project__slug", "=approval_id", "=run_id", "added_by__email")
    search_help_text = "Rule, project, approval, run or who added it"
    list_select_related = ("project", "added_by", "withdrawn_by")
    fields = (
        "project", "rule_id", "effect", "in_words", "rule", "approval_id", "run_id", "added_by",
        "added_at", "withdrawn_by", "withdrawn_at",
    )  # fmt: skip
    readonly_fields = ("effect", "in_words", "added_at")
    actions = ("withdraw",)

    def has_decide_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return actor_of(request).has_perm("tools.change_projectpolicy")

    @display(description="effect", label=EFFECTS)
    def effect(self, row: ProjectRule) -> str:
        return str(row.rule["effect"])

    @display(description="in words")
    def in_words(self, row: ProjectRule) -> str:
        return rule_in_words(row.declared)

    @display(description="counts", boolean=True)
    def counts(self, row: ProjectRule) -> bool:
        return row.withdrawn_at is None

    @admin.action(description="Withdraw", permissions=["decide"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[ProjectRule]) -> None:
        def change(row: ProjectRule) -> bool:
            if row.withdrawn_at is not None:
                return False
            policies.withdraw_rule(
                actor=actor_of(request), project=row.project, rule_id=row.rule_id, as_operator=True
            )
            return True

        done = ("{} rule is withdrawn.", "{} rules are withdrawn.")
        self.apply(request, queryset.select_related("project"), change, done)
