"""Who may use an operation at all. What they may do in which project, the services decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from apps.registry.api.authentication import scopes_of
from apps.registry.models import Scope, User
from apps.registry.permissions import require_operator
from omni.contracts.errors import PermissionDenied

if TYPE_CHECKING:
    # DRF's views import this module while they are being loaded.
    from rest_framework.views import APIView


class SignedInWithScope(BasePermission):
    """Reading needs `read`; changing needs the view's `change_scope`, which is `write` mostly."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not isinstance(request.user, User):
            return False
        needed = needed_scope(request.method or "", view)
        if needed not in scopes_of(request):
            raise PermissionDenied(
                f"This token does not have the scope “{needed.value}”.",
                remedy="Use a token that has it.",
                data={"scope": needed.value},
            )
        return True


class OperatorOfPeople(SignedInWithScope):
    """People are kept by operators who hold Django's permissions on accounts."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not super().has_permission(request, view):
            return False
        require_operator(
            cast(User, request.user), f"registry.{_verb(request.method or '', view)}_user"
        )
        return True


def needed_scope(method: str, view: APIView) -> Scope:
    if method in SAFE_METHODS:
        return Scope.READ
    return Scope(getattr(view, "change_scope", Scope.WRITE))


def _verb(method: str, view: APIView) -> str:
    if method in SAFE_METHODS:
        return "view"
    return str(getattr(view, "post_verb", "add")) if method == "POST" else "change"
