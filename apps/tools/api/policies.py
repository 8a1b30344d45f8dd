"""Policies: published, put in force, withdrawn; rules added; decisions explained."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.doors import Door
from apps.registry.api.fields import Body, Choice, Query, Text
from apps.registry.api.idempotency import idempotent
from apps.registry.models import Project, Scope
from apps.registry.permissions import require_operator
from apps.registry.selectors import visible_project
from apps.tools.api.shapes import (
    MODES,
    DecisionSerializer,
    ObjectField,
    PolicySerializer,
    RuleSerializer,
)
from apps.tools.models import PolicyVersion
from apps.tools.selectors import (
    in_force,
    platform_policies,
    policy_version,
    published_policies,
    rules_of,
)
from apps.tools.selectors.explanations import explain_call
from apps.tools.services import policies
from omni.contracts.errors import NotFound


class NewPolicy(Body):
    document = ObjectField(help_text="See /api/schemas/v1/policy.")


class Chosen(Body):
    version = Text(required=False, max_length=64, help_text="The newest when missing.")


class NewRule(Body):
    rule = ObjectField(help_text="A rule as in a policy; its origin is written by the platform.")


class RuleQuery(Query):
    state = Choice(
        required=False, choices=["active", "withdrawn"], help_text="Only those in this state."
    )


class Question(Body):
    tool = Text(max_length=128, help_text="Name of an installed tool.")
    version = Text(required=False, max_length=100, help_text="The pinned one when missing.")
    arguments = ObjectField(required=False, default=dict, help_text="What it is called with.")
    agent = Text(required=False, max_length=128, help_text="Name of the agent that asks.")
    mode = Choice(required=False, choices=MODES, help_text="Mode of the run.")
    hosts = serializers.ListField(
        child=Text(max_length=253), required=False, max_length=50, help_text="Hosts it reaches."
    )


class PolicyDoor(Door):
    """A project's policies, or with no project in the address the platform's."""

    tag = "policies"
    change_scope = Scope.ADMIN
    ordering = ("name", "-published_at", "id")

    def project(self, slug: str | None) -> Project | None:
        if slug is None:
            require_operator(self.person, "tools.view_policyversion")
            return None
        return visible_project(self.person, slug)

    def listed(self, slug: str | None) -> Response:
        self.filters()
        project = self.project(slug)
        rows: QuerySet[PolicyVersion] = (
            published_policies(self.person, project) if project else platform_policies()
        )
        paginator = self.pagination_class()
        found = paginator.paginate_queryset(rows, self.request, self)
        return paginator.get_paginated_response(self.shown(found, project, many=True))

    def shown(self, rows: Any, project: Project | None, *, many: bool = False) -> Any:
        deciding = {row.policy_id for row in in_force(project.pk if project else None)}
        context = {"in_force": deciding}
        return PolicySerializer(rows, many=many, context=context).data

    def published(self, slug: str | None) -> Response:
        project = self.project(slug)
        body = self.accept(NewPolicy)
        made, is_new = policies.publish_policy(
            actor=self.person, document=body["document"], project=project
        )
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(self.shown(made, project), status=code)

    def used(self, slug: str | None, name: str) -> Response:
        project = self.project(slug)
        found = self.found(project, name, self.accept(Chosen).get("version"))
        policies.put_policy_in_force(actor=self.person, policy=found, project=project)
        return Response(self.shown(found, project))

    def withdrawn(self, slug: str | None, name: str) -> Response:
        project = self.project(slug)
        policies.withdraw_policy(actor=self.person, project=project, name=name)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def found(self, project: Project | None, name: str, version: str | None) -> PolicyVersion:
        if project is not None:
            return policy_version(self.person, project, name, version)
        rows = platform_policies().filter(name=name)
        row = (rows.filter(version=version) if version else rows).order_by("-published_at").first()
        if row is None:
            raise NotFound(f"There is no policy {name} here.")
        return row


PUBLISHED = {200: PolicySerializer, 201: PolicySerializer}


class PlatformPolicyList(PolicyDoor):
    @extend_schema(operation_id="list_platform_policies", responses=PolicySerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the policies of the platform; for operators."""
        return self.listed(None)

    @extend_schema(operation_id="publish_platform_policy", request=NewPolicy, responses=PUBLISHED)
    @idempotent
    def post(self, request: Request) -> Response:
        """Publish a version of a policy for every project; for operators."""
        return self.published(None)


class PlatformPolicyUse(PolicyDoor):
    @extend_schema(operation_id="use_platform_policy", request=Chosen, responses=PolicySerializer)
    @idempotent
    def post(self, request: Request, policy: str) -> Response:
        """Put a policy in force everywhere; for operators."""
        return self.used(None, policy)

    @extend_schema(operation_id="withdraw_platform_policy", responses={204: None})
    def delete(self, request: Request, policy: str) -> Response:
        """Withdraw a policy of the platform; for operators."""
        return self.withdrawn(None, policy)


class ProjectPolicyList(PolicyDoor):
    @extend_schema(operation_id="list_policies", responses=PolicySerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the policies that a project may use, and which of them decide."""
        return self.listed(slug)

    @extend_schema(operation_id="publish_policy", request=NewPolicy, responses=PUBLISHED)
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Publish a version of a project's own policy; it decides once it is put in force."""
        return self.published(slug)


class ProjectPolicyDetail(PolicyDoor):
    @extend_schema(operation_id="read_policy", parameters=[], responses=PolicySerializer)
    def get(self, request: Request, slug: str, policy: str) -> Response:
        """Read the newest version of a policy."""
        self.filters()
        project = visible_project(self.person, slug)
        return Response(self.shown(self.found(project, policy, None), project))


class ProjectPolicyUse(PolicyDoor):
    @extend_schema(operation_id="use_policy", request=Chosen, responses=PolicySerializer)
    @idempotent
    def post(self, request: Request, slug: str, policy: str) -> Response:
        """Put a policy in force in a project, instead of its version before."""
        return self.used(slug, policy)

    @extend_schema(operation_id="withdraw_policy", responses={204: None})
    def delete(self, request: Request, slug: str, policy: str) -> Response:
        """Withdraw a policy; what only it allowed is denied from now on."""
        return self.withdrawn(slug, policy)


class RuleList(Door):
    tag = "policies"
    change_scope = Scope.ADMIN
    ordering = ("-added_at", "id")

    @extend_schema(
        operation_id="list_rules", parameters=[RuleQuery], responses=RuleSerializer(many=True)
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the rules that answers and people added to a project."""
        state = self.filters(RuleQuery).get("state")
        rows = rules_of(self.person, visible_project(self.person, slug))
        if state:
            rows = rows.filter(withdrawn_at__isnull=state == "active")
        return self.page(rows, RuleSerializer)

    @extend_schema(operation_id="add_rule", request=NewRule, responses={201: RuleSerializer})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Add a rule to a project."""
        project = visible_project(self.person, slug)
        body = self.accept(NewRule)
        row = policies.add_project_rule(actor=self.person, project=project, rule=body["rule"])
        return Response(RuleSerializer(row).data, status=status.HTTP_201_CREATED)


class RuleDetail(Door):
    tag = "policies"
    change_scope = Scope.ADMIN

    @extend_schema(operation_id="read_rule", responses=RuleSerializer)
    def get(self, request: Request, slug: str, rule: str) -> Response:
        """Read an added rule."""
        rows = rules_of(self.person, visible_project(self.person, slug))
        found = rows.filter(rule_id=rule).first()
        if found is None:
            raise NotFound(f"There is no added rule {rule} in this project.")
        return Response(RuleSerializer(found).data)

    @extend_schema(operation_id="withdraw_rule", responses={204: None})
    def delete(self, request: Request, slug: str, rule: str) -> Response:
        """Withdraw an added rule; it stays in the list."""
        project = visible_project(self.person, slug)
        policies.withdraw_rule(actor=self.person, project=project, rule_id=rule)
        return Response(status=status.HTTP_204_NO_CONTENT)


class DecisionDoor(Door):
    tag = "policies"
    change_scope = Scope.READ

    @extend_schema(operation_id="explain_decision", request=Question, responses=DecisionSerializer)
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Ask what would be decided about a call, and why; nothing is called."""
        project = visible_project(self.person, slug)
        body = self.accept(Question)
        about: dict[str, Any] = {key: body[key] for key in ("agent", "mode") if key in body}
        if "hosts" in body:
            about["hosts"] = tuple(body["hosts"])
        asked = explain_call(
            self.person,
            project,
            tool=body["tool"],
            version=body.get("version"),
            arguments=body["arguments"],
            **about,
        )
        return Response(DecisionSerializer(asked).data)
