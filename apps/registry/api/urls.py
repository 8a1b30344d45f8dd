"""Addresses of the registry's API; they end without a slash."""

from django.urls import path
from django.views.generic import RedirectView

from apps.registry.api import (
    audit,
    documents,
    me,
    members,
    people,
    projects,
    roles,
    schemas,
    tokens,
)

app_name = "api"

urlpatterns = [
    path("openapi.json", documents.openapi, name="openapi"),
    path("docs/", documents.docs, name="docs"),
    path("docs", RedirectView.as_view(pattern_name="api:docs")),
    path("me", me.Me.as_view(), name="me"),
    path("roles", roles.RoleList.as_view(), name="roles"),
    path("schemas", schemas.SchemaList.as_view(), name="schemas"),
    path("schemas/<path:name>", schemas.SchemaDetail.as_view(), name="schema"),
    path("projects", projects.ProjectList.as_view(), name="projects"),
    path("projects/<slug:slug>", projects.ProjectDetail.as_view(), name="project"),
    path("projects/<slug:slug>/archive", projects.ProjectArchive.as_view(), name="project_archive"),
    path("projects/<slug:slug>/restore", projects.ProjectRestore.as_view(), name="project_restore"),
    path("projects/<slug:slug>/leave", projects.ProjectLeave.as_view(), name="project_leave"),
    path("projects/<slug:slug>/members", members.MemberList.as_view(), name="members"),
    path(
        "projects/<slug:slug>/members/<uuid:user_id>",
        members.MemberDetail.as_view(),
        name="member",
    ),
    path("tokens", tokens.TokenList.as_view(), name="tokens"),
    path("tokens/<uuid:id>", tokens.TokenDetail.as_view(), name="token"),
    path("audit", audit.AuditList.as_view(), name="audit"),
    path("audit/<int:id>", audit.AuditDetail.as_view(), name="audit_entry"),
    path("people", people.PersonList.as_view(), name="people"),
    path("people/<uuid:id>", people.PersonDetail.as_view(), name="person"),
    path("people/<uuid:id>/password-link", people.PasswordLink.as_view(), name="password_link"),
]
