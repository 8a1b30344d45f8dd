"""Policies: published, put in force, withdrawn; and rules that answers and people add."""

from __future__ import annotations

import uuid
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.registry.models import AuditAction, Project, User
from apps.registry.permissions import require, require_operator
from apps.registry.roles import Permission
from apps.registry.services import audit
from apps.tools.models import PolicyVersion, ProjectPolicy, ProjectRule
from apps.tools.policy.check import check_policy, check_rule
from apps.tools.selectors.policies import ADDED
from omni.contracts.bounds import invalid
from omni.contracts.canonical import digest, instant
from omni.contracts.errors import Conflict, InvalidInput, NotFound
from omni.contracts.types.policy import PolicyOrigin, PolicyRule

MAX_RULES = 500


@transaction.atomic
def publish_policy(
    *, actor: User | None, document: Any, project: Project | None = None, as_operator: bool = False
) -> tuple[PolicyVersion, bool]:
    """Publish a version; the same content again is the same version, other content a conflict."""
    policy = check_policy(document)
    _refuse_foreign_claims(policy["name"], policy["rules"])
    if actor is not None:
        _require_keeper(actor, project, as_operator=as_operator)
    made = PolicyVersion(
        project=project,
        name=policy["name"],
        version=policy["version"],
        document=document,
        sha256=digest(document),
        published_by=actor,
    )
    try:
        with transaction.atomic():
            made.save(force_insert=True)
    except IntegrityError:
        return _same(made), False
    _record(AuditAction.POLICY_PUBLISHED, actor, project, made, as_operator)
    return made, True


@transaction.atomic
def put_policy_in_force(
    *,
    actor: User | None,
    policy: PolicyVersion,
    project: Project | None,
    as_operator: bool = False,
) -> ProjectPolicy:
    """From now on it decides, instead of the version of the same name; runs notice at once."""
    if actor is not None:
        _require_keeper(actor, project, as_operator=as_operator)
    if policy.project_id not in (None, project.pk if project else None):
        raise NotFound(f"There is no policy {policy.name} here.")
    now = timezone.now()
    rows = ProjectPolicy.objects.select_for_update().filter(
        project=project, name=policy.name, withdrawn_at=None
    )
    before = rows.first()
    if before is not None and before.policy_id == policy.pk:
        return before
    rows.update(withdrawn_at=now, withdrawn_by=actor)
    try:
        with transaction.atomic():
            made = ProjectPolicy.objects.create(
                project=project, policy=policy, name=policy.name, put_by=actor
            )
    except IntegrityError:
        raise Conflict("Somebody else has just put a version of this policy in force.") from None
    data = {"from": before.policy.version if before else None}
    _record(AuditAction.POLICY_PUT_IN_FORCE, actor, project, policy, as_operator, data)
    return made


@transaction.atomic
def withdraw_policy(
    *, actor: User, project: Project | None, name: str, as_operator: bool = False
) -> None:
    """It decides no longer; what only it allowed is denied from now on."""
    _require_keeper(actor, project, as_operator=as_operator)
    row = (
        ProjectPolicy.objects.select_for_update(of=("self",))
        .filter(project=project, name=name, withdrawn_at=None)
        .select_related("policy")
        .first()
    )
    if row is None:
        raise NotFound(f"The policy {name} is not in force here.")
    row.withdrawn_at, row.withdrawn_by = timezone.now(), actor
    row.save(update_fields=["withdrawn_at", "withdrawn_by"])
    _record(AuditAction.POLICY_WITHDRAWN, actor, project, row.policy, as_operator)


@transaction.atomic
def add_project_rule(
    *,
    actor: User,
    project: Project,
    rule: Any,
    approval_id: uuid.UUID | None = None,
    run_id: uuid.UUID | None = None,
    as_operator: bool = False,
) -> ProjectRule:
    """Add a rule to a project: by hand, or as the answer to the approval that is named.

    Whoever may answer approvals may make their answer a rule; any other rule is for those who keep
    policies. Where it comes from is written here, whatever the rule says. The same again is one.
    """
    checked = check_rule({**rule, "origin": _origin(actor, approval_id, run_id)})
    wanted = Permission.APPROVE if approval_id else Permission.MANAGE_POLICIES
    require(actor, wanted, project, as_operator=as_operator)
    rows = ProjectRule.objects.filter(project=project)
    if rows.filter(withdrawn_at=None).count() >= MAX_RULES:
        raise Conflict(
            f"A project has at most {MAX_RULES} added rules.",
            remedy="Withdraw some, or write a policy.",
        )
    made = ProjectRule(
        project=project,
        rule_id=checked["id"],
        rule=checked,
        approval_id=approval_id,
        run_id=run_id,
        added_by=actor,
    )
    try:
        with transaction.atomic():
            made.save(force_insert=True)
    except IntegrityError:
        return _same_rule(made)
    data = {"effect": checked["effect"], "approval": str(approval_id) if approval_id else None}
    _record(AuditAction.RULE_ADDED, actor, project, made, as_operator, data)
    return made


@transaction.atomic
def withdraw_rule(
    *, actor: User, project: Project, rule_id: str, as_operator: bool = False
) -> ProjectRule:
    """The rule counts no longer; withdrawing it again changes nothing."""
    require(actor, Permission.MANAGE_POLICIES, project, as_operator=as_operator)
    row = ProjectRule.objects.select_for_update().filter(project=project, rule_id=rule_id).first()
    if row is None:
        raise NotFound(f"There is no added rule {rule_id} in this project.")
    if row.withdrawn_at is None:
        row.withdrawn_at, row.withdrawn_by = timezone.now(), actor
        row.save(update_fields=["withdrawn_at", "withdrawn_by"])
        _record(AuditAction.RULE_WITHDRAWN, actor, project, row, as_operator)
    return row


def _require_keeper(actor: User, project: Project | None, *, as_operator: bool) -> None:
    if project is None:
        require_operator(actor, "tools.change_projectpolicy")
    else:
        require(actor, Permission.MANAGE_POLICIES, project, as_operator=as_operator)


def _refuse_foreign_claims(name: str, rules: list[PolicyRule]) -> None:
    """Answers of people, which outweigh asks, come from approvals and from nowhere else."""
    if name == ADDED:
        raise InvalidInput.field("/name", f"{ADDED} is the name of the rules added to a project.")
    for index, rule in enumerate(rules):
        if "origin" in rule and rule["origin"]["kind"] == "approval":
            reason = "a policy cannot claim that a person answered; leave the origin out."
            raise invalid([(f"/rules/{index}/origin/kind", "origin", reason)], what="The policy")


def _same(made: PolicyVersion) -> PolicyVersion:
    found = PolicyVersion.objects.get(project=made.project, name=made.name, version=made.version)
    if found.sha256 != made.sha256:
        raise Conflict(
            f"{made} is published already, with other content; a published version never changes.",
            remedy="Raise the version.",
            data={"errors": {"/version": ["This version is published with other content."]}},
        )
    return found


def _same_rule(made: ProjectRule) -> ProjectRule:
    found = ProjectRule.objects.get(project=made.project, rule_id=made.rule_id)
    same = found.rule["match"] == made.rule["match"] and found.rule["effect"] == made.rule["effect"]
    if not same or found.withdrawn_at is not None:
        raise Conflict(
            f"The id {made.rule_id} belongs to another rule of this project.",
            remedy="Choose another one.",
            data={"errors": {"/id": ["This id is taken."]}},
        )
    return found


def _record(
    action: AuditAction,
    actor: User | None,
    project: Project | None,
    target: PolicyVersion | ProjectRule,
    as_operator: bool,
    data: dict[str, Any] | None = None,
) -> None:
    audit.record(
        action,
        actor=actor,
        actor_label="" if actor else "omni",
        project=project,
        target=target,
        data=(data or {}) | audit.operator_mark(as_operator),
    )


def _origin(actor: User, approval_id: uuid.UUID | None, run_id: uuid.UUID | None) -> PolicyOrigin:
    origin: PolicyOrigin = {
        "kind": "approval" if approval_id else "admin",
        "by": f"user:{actor.pk}",
        "at": instant(timezone.now()),
    }
    if approval_id:
        origin["approval_id"] = str(approval_id)
    if run_id:
        origin["run_id"] = str(run_id)
    return origin
