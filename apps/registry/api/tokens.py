"""API tokens of the person who asks."""

from __future__ import annotations

import uuid

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.authentication import scopes_of
from apps.registry.api.doors import Door
from apps.registry.api.fields import Body, Choice, Text, Whole
from apps.registry.api.idempotency import idempotent
from apps.registry.models import ApiToken, Scope
from apps.registry.selectors import token_of, tokens_of
from apps.registry.services.tokens import create_token, revoke_token
from omni.contracts.errors import PermissionDenied


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))
    usable = serializers.BooleanField(
        source="is_usable", read_only=True, help_text="Neither expired nor revoked."
    )

    class Meta:
        model = ApiToken
        fields = (
            "id",
            "name",
            "prefix",
            "scopes",
            "usable",
            "created_at",
            "expires_at",
            "revoked_at",
            "last_used_at",
        )
        read_only_fields = fields


class MadeTokenSerializer(TokenSerializer):
    token = serializers.CharField(read_only=True, help_text="Shown this once; keep it safe.")

    class Meta:
        model = ApiToken
        fields = (*TokenSerializer.Meta.fields, "token")
        read_only_fields = fields


class NewToken(Body):
    name = Text(max_length=80, help_text="What will use it, such as “nightly import”.")
    scopes = serializers.ListField(
        child=Choice(choices=Scope.choices),
        min_length=1,
        max_length=len(Scope),
        help_text="What it may do, within what you may do.",
    )
    days = Whole(
        min_value=1,
        max_value=3650,
        default=90,
        help_text="How long it lives, within the life of the token that asks; the operator sets "
        "the longest time.",
    )

    def validate_scopes(self, wanted: list[str]) -> set[Scope]:
        scopes = {Scope(scope) for scope in wanted}
        if beyond := scopes - scopes_of(self.context["request"]):
            # A token could otherwise give itself what its owner did not give it.
            raise PermissionDenied(
                f"A token cannot make one with more scopes: {', '.join(sorted(beyond))}.",
                remedy="Make it in the workspace.",
                data={"scope": ",".join(sorted(beyond))},
            )
        return scopes


class TokenList(Door):
    tag = "tokens"
    change_scope = Scope.ADMIN
    ordering = ("-created_at", "id")

    @extend_schema(operation_id="list_tokens", responses=TokenSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List your tokens, newest first; a token itself is never shown again."""
        self.filters()
        return self.page(tokens_of(self.person), TokenSerializer)

    @extend_schema(
        operation_id="create_token", request=NewToken, responses={201: MadeTokenSerializer}
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Make a token; the answer shows it once."""
        parent = request.auth if isinstance(request.auth, ApiToken) else None
        token, value = create_token(user=self.person, parent=parent, **self.accept(NewToken))
        shown = {**TokenSerializer(token).data, "token": value}
        return Response(shown, status=status.HTTP_201_CREATED)


class TokenDetail(Door):
    tag = "tokens"
    change_scope = Scope.ADMIN

    @extend_schema(operation_id="revoke_token", responses={204: None})
    def delete(self, request: Request, id: uuid.UUID) -> Response:
        """Revoke a token at once; repeating it is harmless."""
        revoke_token(actor=self.person, token=token_of(self.person, id))
        return Response(status=status.HTTP_204_NO_CONTENT)
