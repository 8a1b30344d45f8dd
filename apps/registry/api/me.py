"""The person behind the credential."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.authentication import scopes_of
from apps.registry.api.doors import Door
from apps.registry.api.fields import Body, Text
from apps.registry.models import Scope, User
from apps.registry.services.people import update_profile


class MeSerializer(serializers.ModelSerializer[User]):
    scopes = serializers.SerializerMethodField(help_text="What this credential may do.")

    class Meta:
        model = User
        fields = ("id", "email", "name", "time_zone", "is_staff", "scopes")
        read_only_fields = fields

    def get_scopes(self, user: User) -> list[Scope]:
        return sorted(scopes_of(self.context["request"]))


class ProfileChange(Body):
    name = Text(max_length=120, allow_blank=True, help_text="How others see you.")
    time_zone = Text(
        max_length=64, help_text="Times in the workspace are shown in it, such as Europe/Berlin."
    )


class Me(Door):
    tag = "me"

    @extend_schema(operation_id="read_me", responses=MeSerializer)
    def get(self, request: Request) -> Response:
        """Who am I."""
        return self._shown(self.person)

    @extend_schema(operation_id="change_me", request=ProfileChange, responses=MeSerializer)
    def patch(self, request: Request) -> Response:
        """Change my name or time zone."""
        changes: dict[str, Any] = self.accept(ProfileChange, partial=True)
        return self._shown(update_profile(actor=self.person, **changes))

    def _shown(self, user: User) -> Response:
        return Response(MeSerializer(user, context={"request": self.request}).data)
