"""The policies of a project: what decides, in words, as a document, and put to the test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.registry.models import Project, User
from apps.registry.permissions import may, require
from apps.registry.roles import Permission
from apps.registry.views.doors import member_page, signed_in, status_of, submit
from apps.tools import selectors
from apps.tools.forms import PolicyForm, WhyForm
from apps.tools.models import PolicyVersion
from apps.tools.policy.words import budget_in_words, rule_in_words
from apps.tools.selectors.explanations import Explanation, explain_call
from apps.tools.services import policies
from apps.tools.views.documents import pretty, submit_document
from omni.contracts.types.policy import Policy

STARTER = {
    "name": "project-policy",
    "version": "1.0.0",
    "description": "What this project allows beyond the platform's policy.",
    "default": "deny",
    "rules": [
        {
            "id": "notes",
            "effect": "allow",
            "match": {
                "tools": ["filesystem.write_file"],
                "arguments": [{"pointer": "/path", "operator": "under_path", "value": "notes"}],
            },
            "reason": "Notes may be written without asking.",
        }
    ],
}


@dataclass(frozen=True, slots=True)
class Line:
    """A rule as the page shows it."""

    id: str
    effect: str
    words: str
    reason: str
    origin: str


@member_page
@require_GET
def policy_list(request: HttpRequest, project: Project) -> HttpResponse:
    user = signed_in(request)
    deciding = selectors.in_force(project.pk)
    shown = {row.name for row in deciding}
    rest = selectors.published_policies(user, project).exclude(name__in=shown)
    context = {
        "project": project,
        "deciding": [(row, lines(row.policy.declared)) for row in deciding],
        "idle": sorted({each.name for each in rest}),
        "added": [
            (row, rule_in_words(row.declared)) for row in selectors.rules_of(user, project)[:100]
        ],
        "can_manage": may(user, Permission.MANAGE_POLICIES, project),
    }
    return render(request, "tools/policy_list.html", context)


@member_page
@require_GET
def policy_detail(request: HttpRequest, project: Project, policy: str) -> HttpResponse:
    user, version = signed_in(request), request.GET.get("version") or None
    versions = selectors.policy_versions(user, project, policy)
    shown = selectors.policy_version(user, project, policy, version)
    document = shown.declared
    context = {
        "project": project,
        "policy": shown,
        "lines": lines(document),
        "budgets": [budget_in_words(each) for each in document.get("budgets", [])],
        "approvals": document.get("approvals", {}),
        "versions": versions,
        "deciding": _deciding(project, policy),
        "history": selectors.policy_history(user, project, policy)[:50],
        "text": pretty(shown.document),
        "can_manage": may(user, Permission.MANAGE_POLICIES, project),
    }
    return render(request, "tools/policy_detail.html", context)


@member_page
@require_http_methods(["GET", "POST"])
def policy_new(request: HttpRequest, project: Project) -> HttpResponse:
    """Write a version: from the newest one of the same name, or from an example."""
    user = signed_in(request)
    require(user, Permission.MANAGE_POLICIES, project)
    base = request.GET.get("from", "")
    initial = {"document": _starter(user, project, base), "put_in_force": True}
    form = PolicyForm(request.POST if request.method == "POST" else None, initial=initial)
    made: list[PolicyVersion] = []
    if request.method == "POST" and submit_document(
        form, lambda data: made.append(_publish(user, project, data))
    ):
        messages.success(request, f"{made[0]} is published.")
        return redirect("tools:policy_detail", slug=project.slug, policy=made[0].name)
    context = {"project": project, "form": form, "base": base}
    return render(request, "tools/policy_form.html", context, status=status_of(form))


@member_page
@require_POST
def policy_use(request: HttpRequest, project: Project, policy: str) -> HttpResponse:
    user = signed_in(request)
    require(user, Permission.MANAGE_POLICIES, project)
    version = request.POST.get("version") or None
    found = selectors.policy_version(user, project, policy, version)
    policies.put_policy_in_force(actor=user, policy=found, project=project)
    messages.success(request, f"{found} decides from now on.")
    return redirect("tools:policy_detail", slug=project.slug, policy=policy)


@member_page
@require_http_methods(["GET", "POST"])
def policy_withdraw(request: HttpRequest, project: Project, policy: str) -> HttpResponse:
    user = signed_in(request)
    require(user, Permission.MANAGE_POLICIES, project)
    if request.method == "POST":
        policies.withdraw_policy(actor=user, project=project, name=policy)
        messages.success(request, f"{policy} decides no longer.")
        return redirect("tools:policy_list", slug=project.slug)
    return _ask(
        request,
        project,
        title=f"Withdraw {policy}?",
        message="What only this policy allowed is denied from now on. It stays published.",
        confirm_label="Withdraw policy",
    )


@member_page
@require_http_methods(["GET", "POST"])
def rule_withdraw(request: HttpRequest, project: Project, rule: str) -> HttpResponse:
    user = signed_in(request)
    require(user, Permission.MANAGE_POLICIES, project)
    if request.method == "POST":
        policies.withdraw_rule(actor=user, project=project, rule_id=rule)
        messages.success(request, "The rule counts no longer.")
        return redirect("tools:policy_list", slug=project.slug)
    return _ask(
        request,
        project,
        title="Withdraw this rule?",
        message=f"{rule} counts no longer, and people are asked again where it answered.",
        confirm_label="Withdraw rule",
    )


@member_page
@require_http_methods(["GET", "POST"])
def why(request: HttpRequest, project: Project) -> HttpResponse:
    """What would be decided about a call, with every rule that was looked at; nothing is called."""
    user = signed_in(request)
    names = [tool.name for tool in selectors.tools_of(project.pk)]
    asked = request.POST if request.method == "POST" else None
    form = WhyForm(asked, tools=names, initial={"tool": request.GET.get("tool", "")})
    found: list[Explanation] = []
    if asked is not None:
        submit(form, lambda data: found.append(explain_call(user, project, **data)))
    context = {"project": project, "form": form, "asked": found[0] if found else None}
    return render(request, "tools/why.html", context, status=status_of(form))


def lines(policy: Policy) -> list[Line]:
    """The rules of a policy, those that refuse first."""
    order = {"deny": 0, "ask": 1, "allow": 2}
    found = [
        Line(
            rule["id"],
            rule["effect"],
            rule_in_words(rule),
            rule["reason"],
            rule["origin"]["kind"] if "origin" in rule else "",
        )
        for rule in policy["rules"]
    ]
    return sorted(found, key=lambda line: (order[line.effect], line.id))


def _publish(user: User, project: Project, data: dict[str, Any]) -> PolicyVersion:
    made, _ = policies.publish_policy(actor=user, document=data["document"], project=project)
    if data["put_in_force"]:
        policies.put_policy_in_force(actor=user, policy=made, project=project)
    return made


def _starter(user: User, project: Project, base: str) -> str:
    rows = selectors.published_policies(user, project).filter(name=base) if base else []
    if not rows:
        return pretty(STARTER)
    found = selectors.policy_version(user, project, base)
    if found.project_id is not None:
        return pretty(found.document)
    # A project's copy beside the platform's needs a name of its own.
    return pretty({**found.document, "name": f"{project.slug}-{base}"[:64], "version": "1.0.0"})


def _deciding(project: Project, name: str) -> set[Any]:
    return {row.policy_id for row in selectors.in_force(project.pk) if row.name == name}


def _ask(request: HttpRequest, project: Project, **question: Any) -> HttpResponse:
    cancel = reverse("tools:policy_list", args=[project.slug])
    context = {"danger": True, "cancel_url": cancel, **question}
    return render(request, "workspace/_confirm.html", context)
