"""Secrets by name: set, replaced, deleted, never read."""

from __future__ import annotations

import re

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.doors import Door
from apps.registry.api.fields import Body, Text
from apps.registry.models import Project, Scope
from apps.registry.permissions import require_operator
from apps.registry.selectors import visible_project
from apps.tools.models import Secret
from apps.tools.models.secret import SECRET_NAME
from apps.tools.selectors import secrets_of
from apps.tools.services.secrets import MAX_BYTES, delete_secret, set_secret
from omni.contracts.errors import InvalidInput


class SecretSerializer(serializers.ModelSerializer[Secret]):
    reference = serializers.CharField(
        read_only=True, help_text="What manifests and settings hold instead of the value."
    )
    set_by = serializers.CharField(
        source="set_by.email", read_only=True, help_text="Who set it last."
    )

    class Meta:
        model = Secret
        fields = (
            "name",
            "reference",
            "description",
            "set_by",
            "created_at",
            "updated_at",
            "last_used_at",
        )
        read_only_fields = fields


class SecretValue(Body):
    value = Text(
        max_length=MAX_BYTES,
        trim_whitespace=False,
        write_only=True,
        help_text="Encrypted at once and never shown again.",
    )
    description = Text(
        max_length=200, required=False, allow_blank=True, help_text="What it is for."
    )


class SecretDoor(Door):
    """A project's secrets, or with no project in the address the platform's."""

    tag = "secrets"
    change_scope = Scope.SECRETS
    ordering = ("name",)

    def project(self, slug: str | None) -> Project | None:
        return None if slug is None else visible_project(self.person, slug)

    def listed(self, slug: str | None) -> Response:
        self.filters()
        return self.page(secrets_of(self.person, self.project(slug)), SecretSerializer)

    def changed(self, slug: str | None) -> Project | None:
        if slug is None:
            require_operator(self.person, "tools.change_secret")
        return self.project(slug)

    def put_secret(self, slug: str | None, name: str) -> Response:
        project = self.changed(slug)
        if not re.compile(SECRET_NAME.regex).fullmatch(name):
            raise InvalidInput.field("name", str(SECRET_NAME.message))
        body = self.accept(SecretValue)
        secret, is_new = set_secret(actor=self.person, project=project, name=name, **body)
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(SecretSerializer(secret).data, status=code)

    def deleted(self, slug: str | None, name: str) -> Response:
        delete_secret(actor=self.person, project=self.changed(slug), name=name)
        return Response(status=status.HTTP_204_NO_CONTENT)


SET = {200: SecretSerializer, 201: SecretSerializer}


class ProjectSecretList(SecretDoor):
    @extend_schema(operation_id="list_secrets", responses=SecretSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List a project's secrets, without their values."""
        return self.listed(slug)


class ProjectSecretDetail(SecretDoor):
    @extend_schema(operation_id="set_secret", request=SecretValue, responses=SET)
    def put(self, request: Request, slug: str, name: str) -> Response:
        """Set or replace a secret of a project."""
        return self.put_secret(slug, name)

    @extend_schema(operation_id="delete_secret", responses={204: None})
    def delete(self, request: Request, slug: str, name: str) -> Response:
        """Delete a secret of a project."""
        return self.deleted(slug, name)


class PlatformSecretList(SecretDoor):
    @extend_schema(operation_id="list_platform_secrets", responses=SecretSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the platform's secrets, without their values; for operators."""
        return self.listed(None)


class PlatformSecretDetail(SecretDoor):
    @extend_schema(operation_id="set_platform_secret", request=SecretValue, responses=SET)
    def put(self, request: Request, name: str) -> Response:
        """Set or replace a secret that serves every project; for operators."""
        return self.put_secret(None, name)

    @extend_schema(operation_id="delete_platform_secret", responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        """Delete a secret of the platform; for operators."""
        return self.deleted(None, name)
