"""Policies as rows: published once, in force or withdrawn, with rules that people added."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from apps.registry.models import AuditEntry, Project, User
from apps.registry.roles import Role
from apps.registry.services.members import set_member_roles
from apps.tools.models import PolicyVersion, ProjectRule
from apps.tools.policy import decide
from apps.tools.policy.record import answer_rule
from apps.tools.selectors import (
    policies_of,
    policy_history,
    policy_versions,
    rulebook_of,
    rules_of,
)
from apps.tools.services.builtin import load_builtins
from apps.tools.services.policies import (
    add_project_rule,
    publish_policy,
    put_policy_in_force,
    withdraw_policy,
    withdraw_rule,
)
from omni.contracts.errors import Conflict, InvalidInput, NotFound, PermissionDenied
from tests.tools.policies import NOW, RUN, policy, request, rule

READS = policy(rule("allow", "reads", capabilities=["read"]))
APPROVAL = uuid.UUID("0b6f2c1e-6c1d-4f5a-9a3e-2f1d7c8b9a01")


def effect(project: Project, **changes: Any) -> str:
    chosen = decide(policies_of(project.pk), request(**changes))
    assert rulebook_of(project.pk).decide(request(**changes)) == chosen
    return chosen.effect


@pytest.fixture
def reads(project: Project, user: User) -> PolicyVersion:
    """Published and in force in the project."""
    made, _ = publish_policy(actor=user, document=READS, project=project)
    put_policy_in_force(actor=user, policy=made, project=project)
    return made


@pytest.mark.req("POL-1")
def test_a_policy_decides_from_the_moment_it_is_put_in_force(project: Project, user: User) -> None:
    assert effect(project) == "deny"
    made, is_new = publish_policy(actor=user, document=READS, project=project)
    assert is_new
    assert effect(project) == "deny"
    put_policy_in_force(actor=user, policy=made, project=project)
    assert effect(project) == "allow"
    withdraw_policy(actor=user, project=project, name="test")
    assert effect(project) == "deny"


@pytest.mark.req("POL-1")
def test_another_version_takes_the_place_of_the_one_before(
    project: Project, user: User, reads: PolicyVersion
) -> None:
    stricter = policy(rule("deny", "none")) | {"version": "1.1.0"}
    made, _ = publish_policy(actor=user, document=stricter, project=project)
    put_policy_in_force(actor=user, policy=made, project=project)
    assert effect(project) == "deny"
    assert [each.version for each in policy_versions(user, project, "test")] == ["1.1.0", "1.0.0"]
    history = policy_history(user, project, "test")
    assert [(row.policy.version, row.withdrawn_at is None) for row in history] == [
        ("1.1.0", True),
        ("1.0.0", False),
    ]
    put_policy_in_force(actor=user, policy=reads, project=project)
    assert effect(project) == "allow"


@pytest.mark.req("POL-1")
def test_a_published_version_never_changes(
    project: Project, user: User, reads: PolicyVersion
) -> None:
    again, is_new = publish_policy(actor=user, document=READS, project=project)
    assert (again.pk, is_new) == (reads.pk, False)
    with pytest.raises(Conflict, match="never changes"):
        publish_policy(actor=user, document=READS | {"default": "ask"}, project=project)
    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        PolicyVersion.objects.filter(pk=reads.pk).update(document={})
    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        PolicyVersion.objects.filter(pk=reads.pk)._raw_delete("default")


@pytest.mark.req("POL-1")
def test_the_platforms_policies_and_the_projects_own_decide_together(
    project: Project, user: User, administrator: User, reads: PolicyVersion
) -> None:
    document = policy(rule("deny", "never", risks=["low"]), name="house")
    with pytest.raises(PermissionDenied):
        publish_policy(actor=user, document=document)
    house, _ = publish_policy(actor=administrator, document=document)
    put_policy_in_force(actor=administrator, policy=house, project=None)
    assert effect(project) == "deny"
    assert effect(project, risk="high") == "allow"


@pytest.mark.req("POL-2")
def test_the_default_policy_reads_asks_and_denies(project: Project, user: User) -> None:
    load_builtins()
    write = {"tool": "filesystem.write_file", "capabilities": ("write",)}
    assert effect(project) == "allow"
    assert effect(project, tool="memory.search") == "allow"
    assert effect(project, **write) == "ask"
    assert effect(project, tool="python.run", capabilities=("execute",)) == "ask"
    assert effect(project, tool="http.get", capabilities=("network_egress", "read")) == "ask"
    assert effect(project, tool="vault.open", capabilities=("secrets",)) == "deny"
    own = rule("allow", "my-writes", tools=["filesystem.write_file"])
    add_project_rule(actor=user, project=project, rule=own)
    assert effect(project, **write) == "allow"


@pytest.mark.req("POL-4")
def test_an_answer_for_the_project_becomes_a_rule_that_says_where_it_comes_from(
    project: Project, user: User, stranger: User
) -> None:
    load_builtins()
    write = {"tool": "filesystem.write_file", "capabilities": ("write",)}
    set_member_roles(actor=user, project=project, user=stranger, roles={Role.APPROVER})
    given: Any = answer_rule(
        tool="filesystem.write_file", effect="allow", approval_id=str(APPROVAL), run_id=RUN,
        by="system", at=NOW,
    )  # fmt: skip
    with pytest.raises(PermissionDenied):
        add_project_rule(actor=stranger, project=project, rule=given)
    made = add_project_rule(
        actor=stranger, project=project, rule=given, approval_id=APPROVAL, run_id=uuid.UUID(RUN)
    )
    again = add_project_rule(
        actor=stranger, project=project, rule=given, approval_id=APPROVAL, run_id=uuid.UUID(RUN)
    )
    assert again.pk == made.pk
    assert made.rule["origin"]["by"] == f"user:{stranger.pk}"
    assert made.rule["origin"]["approval_id"] == str(APPROVAL)
    assert effect(project, **write) == "allow"
    withdraw_rule(actor=user, project=project, rule_id=made.rule_id)
    assert effect(project, **write) == "ask"
    assert rules_of(user, project).count() == 1


@pytest.mark.req("POL-4")
def test_nobody_can_pretend_that_a_person_answered(project: Project, user: User) -> None:
    claimed = rule("allow", "x", tools=["*"], origin={"kind": "approval"})
    with pytest.raises(InvalidInput, match="claim"):
        publish_policy(actor=user, document=policy(claimed), project=project)
    made = add_project_rule(actor=user, project=project, rule=claimed)
    assert made.rule["origin"]["kind"] == "admin"
    with pytest.raises(DatabaseError, match="withdrawn"), transaction.atomic():
        ProjectRule.objects.filter(pk=made.pk).update(rule=claimed)


@pytest.mark.req("SEC-2")
def test_policies_are_kept_by_owners(project: Project, user: User, stranger: User) -> None:
    with pytest.raises(NotFound):
        publish_policy(actor=stranger, document=READS, project=project)
    set_member_roles(actor=user, project=project, user=stranger, roles={Role.OPERATOR})
    with pytest.raises(PermissionDenied):
        publish_policy(actor=stranger, document=READS, project=project)
    with pytest.raises(PermissionDenied):
        add_project_rule(actor=stranger, project=project, rule=READS["rules"][0])
    assert list(policy_history(stranger, project, "test")) == []


def test_everything_is_audited(project: Project, user: User, reads: PolicyVersion) -> None:
    made = add_project_rule(actor=user, project=project, rule=rule("deny", "x"))
    withdraw_rule(actor=user, project=project, rule_id=made.rule_id)
    withdraw_rule(actor=user, project=project, rule_id=made.rule_id)
    withdraw_policy(actor=user, project=project, name="test")
    rows = AuditEntry.objects.filter(project=project).order_by("id")
    assert list(rows.values_list("action", flat=True))[-5:] == [
        "policy_published",
        "policy_put_in_force",
        "rule_added",
        "rule_withdrawn",
        "policy_withdrawn",
    ]
