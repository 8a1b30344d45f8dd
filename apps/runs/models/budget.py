"""What was spent and set aside against budgets: sums over events, kept to be fast."""

from __future__ import annotations

from django.db import models


class BudgetUse(models.Model):
    """One unit of one scope, such as the steps of a run or the seconds of a project's day."""

    id = models.BigAutoField(primary_key=True)
    scope = models.CharField(max_length=120, help_text="What is counted: run:…, thread:…, day:….")
    unit = models.CharField(max_length=20, help_text="steps, seconds, tokens or money:USD.")
    project = models.ForeignKey("registry.Project", on_delete=models.PROTECT, related_name="+")
    amount = models.DecimalField(max_digits=30, decimal_places=12, default=0)
    raised_to = models.DecimalField(
        max_digits=30,
        decimal_places=12,
        null=True,
        blank=True,
        help_text="The bound that a person raised it to.",
    )
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("-updated_at", "id")
        constraints = (models.UniqueConstraint(fields=("scope", "unit"), name="budget_use_unique"),)

    def __str__(self) -> str:
        return f"{self.scope} {self.unit}"
