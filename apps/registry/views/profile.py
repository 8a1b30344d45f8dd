"""A person's own pages: profile and the browsers they are signed in with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from apps.registry import selectors
from apps.registry.forms import ProfileForm
from apps.registry.models import Session
from apps.registry.services.people import end_other_sessions, update_profile
from apps.registry.views.doors import signed_in, status_of, submit

BROWSERS = (("Edg", "Edge"), ("Firefox", "Firefox"), ("Chrome", "Chrome"), ("Safari", "Safari"))
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True, slots=True)
class Browser:
    """A session as its owner sees it: never its key."""

    browser: str
    ip_address: str | None
    signed_in_at: datetime | None
    seen_at: datetime
    current: bool


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    user = signed_in(request)
    initial = {"email": user.email, "name": user.name, "time_zone": user.time_zone}
    form = ProfileForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and submit(
        form,
        lambda data: update_profile(actor=user, name=data["name"], time_zone=data["time_zone"]),
    ):
        messages.success(request, "Your profile is saved.")
        return redirect("registry:account")
    return render(request, "registry/account.html", {"form": form}, status=status_of(form))


@login_required
@require_safe
def security(request: HttpRequest) -> HttpResponse:
    here = request.session.session_key
    sessions = [_browser(each, here) for each in selectors.sessions_of(signed_in(request))]
    sessions.sort(key=lambda each: not each.current)
    return render(request, "registry/account_security.html", {"sessions": sessions})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def end_sessions(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        count = end_other_sessions(actor=signed_in(request), keep=request.session.session_key)
        messages.success(request, f"Signed out elsewhere: {count}.")
        return redirect("registry:account_security")
    context = {
        "title": "Sign out all other browsers?",
        "message": "You stay signed in here. API tokens keep working.",
        "confirm_label": "Sign them out",
        "cancel_url": reverse("registry:account_security"),
    }
    return render(request, "workspace/_confirm.html", context)


def _browser(session: Session, here: str | None) -> Browser:
    return Browser(
        browser=describe_browser(session.user_agent),
        ip_address=session.ip_address,
        signed_in_at=session.signed_in_at,
        seen_at=session.seen_at,
        current=session.session_key == here,
    )


def describe_browser(user_agent: str) -> str:
    """`Firefox on Linux`, as well as a browser's own description allows."""
    browser = next((name for mark, name in BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "")
    if browser and system:
        return f"{browser} on {system}"
    return browser or re.split(r"[/ ]", user_agent)[0][:40] or "Unknown browser"
