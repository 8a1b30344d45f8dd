"""API tokens: listed, made, shown once, revoked."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods

from apps.registry import selectors
from apps.registry.forms import TokenForm
from apps.registry.services.tokens import create_token, revoke_token
from apps.registry.views.doors import signed_in, status_of, submit
from omni import config


@login_required
@sensitive_variables("created")
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """A new token is in the answer to the form itself: stored nowhere, gone after it."""
    user = signed_in(request)
    form = TokenForm(request.POST if request.method == "POST" else None)
    created: dict[str, str] = {}

    def create(data: dict[str, Any]) -> None:
        token, value = create_token(
            user=user, name=data["name"], scopes=set(data["scopes"]), days=data["days"]
        )
        created.update(name=token.name, value=value, base_url=config.current().base_url)

    status = status_of(form)
    if request.method == "POST":
        status = 201 if submit(form, create) else status_of(form)
    context = {
        "tokens": selectors.tokens_of(user),
        "form": TokenForm() if created else form,
        "created": created,
    }
    return render(request, "registry/account_tokens.html", context, status=status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def revoke(request: HttpRequest, token_id: uuid.UUID) -> HttpResponse:
    token = get_object_or_404(selectors.tokens_of(signed_in(request)), pk=token_id)
    if request.method == "POST":
        revoke_token(actor=signed_in(request), token=token)
        messages.success(request, f"The token “{token.name}” is revoked.")
        return redirect("registry:account_tokens")
    context = {
        "title": f"Revoke “{token.name}”?",
        "message": "Whatever uses it is refused from now on. This cannot be undone.",
        "confirm_label": "Revoke token",
        "danger": True,
        "cancel_url": reverse("registry:account_tokens"),
    }
    return render(request, "workspace/_confirm.html", context)
