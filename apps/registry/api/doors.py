"""The base of every API view: sign-in, limits and pages in one place."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from apps.registry.api.authentication import signed_in
from apps.registry.api.fields import Query
from apps.registry.api.pagination import Pages
from apps.registry.models import Scope, User
from omni.contracts.errors import NotFound, PermissionDenied


class Door(APIView):
    """Authenticates, parses, calls one service or selector, renders."""

    tag: ClassVar[str] = ""
    change_scope: ClassVar[Scope] = Scope.WRITE
    ordering: ClassVar[tuple[str, ...]] = ("id",)
    pagination_class = Pages
    _counted = False

    @property
    def person(self) -> User:
        return signed_in(self.request)

    def accept(self, kind: type[Serializer[Any]], *, partial: bool = False) -> dict[str, Any]:
        """The checked body of the request."""
        body = kind(data=self.request.data, partial=partial, context={"request": self.request})
        body.is_valid(raise_exception=True)
        return dict(body.validated_data)

    def filters(self, kind: type[Query] = Query) -> dict[str, Any]:
        """The checked query of the request."""
        query = kind(data=self.request.query_params.dict())
        query.is_valid(raise_exception=True)
        return dict(query.validated_data)

    def page(self, rows: QuerySet[Any], kind: type[Serializer[Any]]) -> Response:
        paginator = self.pagination_class()
        found = paginator.paginate_queryset(rows, self.request, self)
        shown = kind(found, many=True, context={"request": self.request})
        return paginator.get_paginated_response(shown.data)

    def perform_authentication(self, request: Request) -> None:
        """Refused sign-ins count too; DRF would count only what it lets in."""
        try:
            super().perform_authentication(request)
        except (AuthenticationFailed, PermissionDenied):
            self.check_throttles(request)
            raise
        self.check_throttles(request)

    def check_throttles(self, request: Request) -> None:
        if not self._counted:
            self._counted = True
            super().check_throttles(request)

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        response.headers.setdefault("Cache-Control", "no-store")
        return super().finalize_response(request, response, *args, **kwargs)


class UnknownAddress(Door):
    """Any other address below /api/ answers with a problem document as well."""

    permission_classes = (AllowAny,)
    authentication_classes = ()
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound(
            "The API has no such address.", remedy="See /api/docs/; addresses end without a slash."
        )
