"""Accounts, kept by operators."""

from __future__ import annotations

import uuid

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from apps.registry.api.doors import Door
from apps.registry.api.fields import Body, Choice, Email, Flag, Query, Text
from apps.registry.api.idempotency import idempotent
from apps.registry.api.permissions import OperatorOfPeople
from apps.registry.models import Scope, User
from apps.registry.selectors import people, person_with
from apps.registry.services.accounts import update_person
from apps.registry.services.people import create_user, make_password_link


class PersonSerializer(serializers.ModelSerializer[User]):
    class Meta:
        model = User
        fields = (
            "id",
            "email",
            "name",
            "time_zone",
            "is_staff",
            "is_superuser",
            "is_active",
            "date_joined",
            "last_login",
        )
        read_only_fields = fields


class NewPerson(Body):
    email = Email(max_length=254, help_text="The login.")
    name = Text(max_length=120, required=False, allow_blank=True, help_text="How others see them.")
    is_staff = Flag(default=False, help_text="May sign in to the admin console.")


class PersonChange(Body):
    name = Text(max_length=120, allow_blank=True)
    is_staff = Flag(help_text="May sign in to the admin console.")
    is_active = Flag(help_text="`false` locks the account and all its tokens; nothing is deleted.")


class PersonQuery(Query):
    q = Text(required=False, allow_blank=True, max_length=200, help_text="In address or name.")
    active = Choice(required=False, choices=["true", "false"], help_text="Which accounts.")


class LinkSerializer(serializers.Serializer[dict[str, str]]):
    link = serializers.URLField(help_text="Good for three days and for one use.")


class PersonList(Door):
    tag = "people"
    change_scope = Scope.ADMIN
    permission_classes = (OperatorOfPeople,)
    ordering = ("email",)

    @extend_schema(
        operation_id="list_people", parameters=[PersonQuery], responses=PersonSerializer(many=True)
    )
    def get(self, request: Request) -> Response:
        """List accounts, by address."""
        asked = self.filters(PersonQuery)
        active = {"true": True, "false": False}.get(asked.get("active", ""))
        return self.page(people(q=asked.get("q", ""), active=active), PersonSerializer)

    @extend_schema(
        operation_id="create_person", request=NewPerson, responses={201: PersonSerializer}
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Add a person; hand them a password link next."""
        user = create_user(actor=self.person, **self.accept(NewPerson))
        where = reverse("api:person", kwargs={"id": user.pk}, request=request)
        shown = PersonSerializer(user).data
        return Response(shown, status=status.HTTP_201_CREATED, headers={"Location": where})


class PersonDetail(Door):
    tag = "people"
    change_scope = Scope.ADMIN
    permission_classes = (OperatorOfPeople,)

    @extend_schema(operation_id="read_person", responses=PersonSerializer)
    def get(self, request: Request, id: uuid.UUID) -> Response:
        """Read one account."""
        return Response(PersonSerializer(person_with(id)).data)

    @extend_schema(operation_id="change_person", request=PersonChange, responses=PersonSerializer)
    def patch(self, request: Request, id: uuid.UUID) -> Response:
        """Rename an account, make it an operator's, or lock it."""
        changes = self.accept(PersonChange, partial=True)
        user = update_person(actor=self.person, user=person_with(id), **changes)
        return Response(PersonSerializer(user).data)


class PasswordLink(Door):
    tag = "people"
    change_scope = Scope.ADMIN
    permission_classes = (OperatorOfPeople,)
    post_verb = "change"

    @extend_schema(operation_id="make_password_link", request=None, responses={201: LinkSerializer})
    @idempotent
    def post(self, request: Request, id: uuid.UUID) -> Response:
        """Make a link with which a person sets a password."""
        link = make_password_link(actor=self.person, user=person_with(id))
        return Response({"link": link}, status=status.HTTP_201_CREATED)
