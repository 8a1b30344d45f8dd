"""Members of a project and their roles."""

from __future__ import annotations

import uuid

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.doors import Door
from apps.registry.api.fields import Body, Choice, Email
from apps.registry.api.idempotency import idempotent
from apps.registry.models import Scope, User
from apps.registry.roles import Role
from apps.registry.selectors import member_accounts, member_of_project, visible_project
from apps.registry.services import members


class MemberSerializer(serializers.ModelSerializer[User]):
    user_id = serializers.UUIDField(source="id", read_only=True)
    roles = serializers.SerializerMethodField(help_text="Every role held in this project.")

    class Meta:
        model = User
        fields = ("user_id", "email", "name", "roles")
        read_only_fields = fields

    def get_roles(self, user: User) -> list[Role]:
        order = list(Role)
        held = [Role(row.role) for row in user.roles_here]  # type: ignore[attr-defined]
        return sorted(held, key=order.index)


class MemberRoles(Body):
    roles = serializers.ListField(
        child=Choice(choices=Role.choices),
        min_length=1,
        max_length=len(Role),
        help_text="Exactly the roles this person shall hold; GET /api/roles explains them.",
    )


class NewMember(MemberRoles):
    email = Email(max_length=254, help_text="Address of a person who has an account here.")


class MemberList(Door):
    tag = "members"
    change_scope = Scope.ADMIN
    ordering = ("email",)

    @extend_schema(operation_id="list_members", responses=MemberSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List a project's members, by address."""
        self.filters()
        return self.page(member_accounts(visible_project(self.person, slug)), MemberSerializer)

    @extend_schema(operation_id="add_member", request=NewMember, responses={201: MemberSerializer})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Add a person to a project."""
        project = visible_project(self.person, slug)
        body = self.accept(NewMember)
        roles = {Role(role) for role in body["roles"]}
        user = members.add_member(
            actor=self.person, project=project, email=body["email"], roles=roles
        )
        shown = MemberSerializer(member_of_project(project, user.pk)).data
        return Response(shown, status=status.HTTP_201_CREATED)


class MemberDetail(Door):
    tag = "members"
    change_scope = Scope.ADMIN

    @extend_schema(operation_id="set_member_roles", request=MemberRoles, responses=MemberSerializer)
    def put(self, request: Request, slug: str, user_id: uuid.UUID) -> Response:
        """Replace a member's roles."""
        project = visible_project(self.person, slug)
        user = member_of_project(project, user_id)
        roles = {Role(role) for role in self.accept(MemberRoles)["roles"]}
        members.set_member_roles(actor=self.person, project=project, user=user, roles=roles)
        return Response(MemberSerializer(member_of_project(project, user_id)).data)

    @extend_schema(operation_id="remove_member", responses={204: None})
    def delete(self, request: Request, slug: str, user_id: uuid.UUID) -> Response:
        """Remove a member from a project."""
        project = visible_project(self.person, slug)
        user = member_of_project(project, user_id)
        members.remove_member(actor=self.person, project=project, user=user)
        return Response(status=status.HTTP_204_NO_CONTENT)
