"""Addresses of a project's secrets in the workspace."""

from django.urls import path

from apps.tools import views

app_name = "tools"

_SECRETS = "projects/<slug:slug>/secrets"

urlpatterns = [
    path(_SECRETS, views.project_secrets, name="project_secrets"),
    path(f"{_SECRETS}/<str:name>/replace", views.replace, name="secret_replace"),
    path(f"{_SECRETS}/<str:name>/delete", views.delete, name="secret_delete"),
]
