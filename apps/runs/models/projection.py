"""What a run's events add up to, kept so that nobody has to read them all; never the truth."""

from __future__ import annotations

from django.db import models


class Projection(models.Model):
    """The folded state of one run up to one event; thrown away and rebuilt at will."""

    run = models.OneToOneField(
        "runs.Run", primary_key=True, on_delete=models.CASCADE, related_name="projection"
    )
    upto_seq = models.BigIntegerField(default=0)
    state = models.JSONField(default=dict)

    class Meta:
        ordering = ("run",)

    def __str__(self) -> str:
        return f"{self.run_id} up to {self.upto_seq}"
