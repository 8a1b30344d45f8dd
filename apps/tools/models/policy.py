"""Policies: published versions, which of them are in force, and rules that people added."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, cast

from django.db import models

if TYPE_CHECKING:
    from omni.contracts.types.policy import Policy, PolicyRule


class PolicyVersion(models.Model):
    """One published policy; a trigger refuses every change, and deleting what was in force."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        "registry.Project",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="policies",
        help_text="The project it belongs to; empty for the whole platform.",
    )
    name = models.CharField(max_length=64)
    version = models.CharField(max_length=64)
    document = models.JSONField()
    sha256 = models.CharField(max_length=64)
    published_by = models.ForeignKey(
        "registry.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    published_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name", "-published_at")
        constraints = (
            models.UniqueConstraint(
                "project", "name", "version", name="policy_version_unique", nulls_distinct=False
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def declared(self) -> Policy:
        """The document with its type."""
        return cast("Policy", self.document)


class ProjectPolicy(models.Model):
    """That a policy was in force, from when until when; without a project, for everybody."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        "registry.Project",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="policies_in_force",
    )
    policy = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, related_name="uses")
    name = models.CharField(max_length=64, editable=False)
    put_by = models.ForeignKey(
        "registry.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    put_at = models.DateTimeField(auto_now_add=True)
    withdrawn_by = models.ForeignKey(
        "registry.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("name", "-put_at")
        verbose_name = "policy in force"
        verbose_name_plural = "policies in force"
        constraints = (
            models.UniqueConstraint(
                fields=("project", "name"),
                condition=models.Q(withdrawn_at__isnull=True),
                name="policy_in_force_once",
                nulls_distinct=False,
            ),
        )

    def __str__(self) -> str:
        return str(self.policy)


class ProjectRule(models.Model):
    """A rule that was added to a project by an answer or by hand; it says where it comes from."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey("registry.Project", on_delete=models.CASCADE, related_name="rules")
    rule_id = models.CharField(max_length=64)
    rule = models.JSONField()
    approval_id = models.UUIDField(null=True, blank=True, db_index=True)
    run_id = models.UUIDField(null=True, blank=True)
    added_by = models.ForeignKey("registry.User", on_delete=models.PROTECT, related_name="+")
    added_at = models.DateTimeField(auto_now_add=True)
    withdrawn_by = models.ForeignKey(
        "registry.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-added_at",)
        constraints = (models.UniqueConstraint("project", "rule_id", name="project_rule_unique"),)

    def __str__(self) -> str:
        return self.rule_id

    @property
    def declared(self) -> PolicyRule:
        """The rule with its type."""
        return cast("PolicyRule", self.rule)
