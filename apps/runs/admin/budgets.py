"""What was spent and set aside against budgets."""

from __future__ import annotations

from django.contrib import admin
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from apps.registry.admin.base import ReadOnlyAdmin
from apps.registry.admin.filters import DayRangeFilter
from apps.runs.models import BudgetUse


@admin.register(BudgetUse)
class BudgetUseAdmin(ReadOnlyAdmin):
    list_display = ("scope", "unit", "amount", "raised_to", "project", "updated_at")
    list_filter = (
        ("project", AutocompleteSelectFilter),
        "unit",
        ("updated_at", DayRangeFilter),
    )
    search_fields = ("scope", "project__slug")
    search_help_text = "Scope or project"
    list_select_related = ("project",)
    fields = ("project", "scope", "unit", "amount", "raised_to", "updated_at")
    readonly_fields = ("updated_at",)
