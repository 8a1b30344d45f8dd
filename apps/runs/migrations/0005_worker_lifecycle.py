"""When a worker was ready and when it began to drain; the index finds what a worker drives now."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0004_append_next_event")]
    operations = [
        migrations.AddField("worker", "ready_at", models.DateTimeField(null=True, blank=True)),
        migrations.AddField(
            "worker",
            "draining_at",
            models.DateTimeField(
                null=True, blank=True, help_text="When it was asked to finish what it has and stop."
            ),
        ),
        migrations.RunSQL("UPDATE runs_worker SET ready_at = started_at", migrations.RunSQL.noop),
        migrations.AddIndex(
            "run",
            models.Index(
                fields=["lease_owner"],
                name="run_held",
                condition=models.Q(lease_owner__isnull=False),
            ),
        ),
    ]
