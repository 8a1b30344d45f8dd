"""Addresses of accounts and projects in the workspace."""

from django.urls import path

from apps.registry.views import accounts, activity, members, profile, projects, tokens

app_name = "registry"

_PROJECT = "projects/<slug:slug>"

urlpatterns = [
    path("login", accounts.sign_in, name="login"),
    path("logout", accounts.sign_out, name="logout"),
    path("password/change", accounts.password_change, name="password_change"),
    path("password/reset", accounts.password_reset, name="password_reset"),
    path("password/reset/sent", accounts.password_reset_sent, name="password_reset_sent"),
    path("password/set/done", accounts.password_set_done, name="password_set_done"),
    path("password/set/<uidb64>/<token>", accounts.password_set, name="password_set"),
    path("account/", profile.account, name="account"),
    path("account/security", profile.security, name="account_security"),
    path("account/security/sessions", profile.end_sessions, name="sessions_end"),
    path("account/tokens", tokens.tokens, name="account_tokens"),
    path("account/tokens/<uuid:token_id>/revoke", tokens.revoke, name="token_revoke"),
    path("account/activity", activity.own_activity, name="account_activity"),
    path("activity/<int:entry_id>", activity.entry, name="audit_entry"),
    path("projects/", projects.project_list, name="project_list"),
    path("projects/new", projects.create, name="project_create"),
    path(f"{_PROJECT}/", projects.detail, name="project_detail"),
    path(f"{_PROJECT}/members", members.members, name="project_members"),
    path(f"{_PROJECT}/members/<uuid:user_id>/roles", members.roles, name="member_roles"),
    path(f"{_PROJECT}/members/<uuid:user_id>/remove", members.remove, name="member_remove"),
    path(f"{_PROJECT}/activity", activity.project_activity, name="project_activity"),
    path(f"{_PROJECT}/settings", projects.project_settings, name="project_settings"),
    path(f"{_PROJECT}/archive", projects.archive, name="project_archive"),
    path(f"{_PROJECT}/restore", projects.restore, name="project_restore"),
    path(f"{_PROJECT}/leave", projects.leave, name="project_leave"),
]
