"""Signing in and out, and passwords."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse, reverse_lazy
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from apps.registry.forms import (
    ChangePasswordForm,
    ForgottenPasswordForm,
    NewPasswordForm,
    SignInForm,
)
from apps.registry.lockout import (
    SignInLimits,
    address_of,
    present_password_limit,
    reset_limit,
    too_many,
)
from apps.registry.models.user import normalise_email
from apps.registry.services.passwords import change_password, record_guessing
from apps.registry.throttle import Limit
from apps.registry.views.doors import signed_in, status_of, submit
from omni import config

# Mail is cheap to ask for and unpleasant to receive.
MAILS_PER_HOUR = 3


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    after = _next(request)
    if request.user.is_authenticated:
        return redirect(after)
    if request.headers.get("HX-Request"):
        return _leave_the_shell(request)
    limits = SignInLimits(request)
    if request.method == "POST" and (refusal := limits.refusal(request)):
        return refusal
    form = SignInForm(request, data=request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        limits.give_back()
        login(request, form.get_user())
        return redirect(after)
    context = {"form": form, "next": request.POST.get("next") or request.GET.get("next", "")}
    return render(request, "registry/login.html", context, status=status_of(form))


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    messages.info(request, "You are signed out.")
    return redirect("registry:login")


@login_required
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def password_change(request: HttpRequest) -> HttpResponse:
    user, limit = signed_in(request), present_password_limit()
    use = limit.use(str(user.pk)) if request.method == "POST" else None
    if use and use.refused:
        if use.is_first_refusal:
            record_guessing(user=user)
        return too_many(request, use.wait, "There were too many wrong passwords.")
    form = ChangePasswordForm(user, request.POST if request.method == "POST" else None)
    if use and "old_password" not in form.errors:
        limit.give_back(str(user.pk))
    if use and submit(
        form,
        lambda data: change_password(
            user=user,
            password=data["new_password1"],
            keep_session=request.session.session_key,
        ),
    ):
        update_session_auth_hash(request, user)
        messages.success(request, "Your password is changed. Other browsers are signed out.")
        return redirect("registry:account_security")
    return render(request, "registry/password_change.html", {"form": form}, status=status_of(form))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def password_reset(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        use = reset_limit().use(address_of(request))
        if use.refused:
            return too_many(request, use.wait)
    form = ForgottenPasswordForm(request.POST if request.method == "POST" else None)
    mail_works = bool(config.current().email_url)
    if mail_works and request.method == "POST" and form.is_valid():
        _send_link(form)
        return redirect("registry:password_reset_sent")
    context = {"form": form, "mail_works": mail_works}
    return render(request, "registry/password_reset.html", context, status=status_of(form))


@require_safe
def password_reset_sent(request: HttpRequest) -> HttpResponse:
    return render(request, "registry/password_reset_sent.html")


# Django's own view keeps the token out of the address that the page is shown at.
password_set = PasswordResetConfirmView.as_view(
    template_name="registry/password_set.html",
    form_class=NewPasswordForm,
    success_url=reverse_lazy("registry:password_set_done"),
)


@require_safe
def password_set_done(request: HttpRequest) -> HttpResponse:
    return render(request, "registry/password_set_done.html")


def _send_link(form: ForgottenPasswordForm) -> None:
    address = normalise_email(form.cleaned_data["email"])
    if Limit("password-mail", MAILS_PER_HOUR, 3600).use(address).refused:
        return
    # Never from the Host header: whoever sends it could have the link point elsewhere.
    base = urlsplit(config.current().base_url)
    form.save(
        domain_override=base.netloc,
        use_https=base.scheme == "https",
        subject_template_name="registry/password_reset_subject.txt",
        email_template_name="registry/password_reset_mail.txt",
    )


def _next(request: HttpRequest) -> str:
    wanted = request.POST.get("next") or request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if is_ours else resolve_url("workspace:home")


def _leave_the_shell(request: HttpRequest) -> HttpResponse:
    """A session ended while its page was open: sign in, then come back to that page."""
    htmx = getattr(request, "htmx", None)
    back = (htmx.current_url_abs_path if htmx else None) or "/"
    return HttpResponseClientRedirect(f"{reverse('registry:login')}?{urlencode({'next': back})}")
