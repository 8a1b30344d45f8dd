"""Puts our own site in the place of Django's default admin site."""

from django.contrib.admin.apps import AdminConfig


class OmniAdminConfig(AdminConfig):
    default_site = "omni.workspace.admin_site.OmniAdminSite"
