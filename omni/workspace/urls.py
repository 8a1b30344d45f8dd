"""Addresses of the shell itself; each app brings its own pages."""

from django.urls import path

from omni.workspace import schema_views, views

app_name = "workspace"

urlpatterns = [
    path("", views.home, name="home"),
    path("home/tiles", views.home_tiles, name="home_tiles"),
    path("home/runs", views.home_runs, name="home_runs"),
    path("search", views.search, name="search"),
    path("theme", views.set_theme, name="theme"),
    path("shortcuts", views.shortcuts, name="shortcuts"),
    path("schemas/", schema_views.schema_list, name="schema_list"),
    path("schemas/<path:name>", schema_views.schema_detail, name="schema_detail"),
]
