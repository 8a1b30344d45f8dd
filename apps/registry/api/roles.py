"""The roles there are, and what each one allows."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.doors import Door
from apps.registry.roles import DESCRIPTIONS, GRANTS, Permission, Role


class PermissionSerializer(serializers.Serializer[Any]):
    name = serializers.ChoiceField(choices=Permission.choices)
    title = serializers.CharField()


class RoleSerializer(serializers.Serializer[Any]):
    name = serializers.ChoiceField(choices=Role.choices)
    title = serializers.CharField()
    description = serializers.CharField()
    permissions = PermissionSerializer(many=True, help_text="What a member with it may do.")


class RoleList(Door):
    tag = "roles"

    @extend_schema(operation_id="list_roles", responses=RoleSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the roles a member can hold; they fit on one page."""
        self.filters()
        results = RoleSerializer([_shown(role) for role in Role], many=True).data
        return self.pagination_class().one_page(results, request)


def _shown(role: Role) -> dict[str, Any]:
    allowed = [each for each in Permission if each in GRANTS[role]]
    return {
        "name": role.value,
        "title": role.label,
        "description": DESCRIPTIONS[role],
        "permissions": [{"name": each.value, "title": each.label} for each in allowed],
    }
