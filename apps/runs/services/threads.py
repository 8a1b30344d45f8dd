"""Renaming, archiving and restoring threads."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from apps.registry.models import User
from apps.registry.permissions import require
from apps.registry.roles import Permission
from apps.registry.validation import validated
from apps.runs.models import Thread


@transaction.atomic
def update_thread(
    *, actor: User, thread: Thread, title: str | None = None, archived: bool | None = None
) -> Thread:
    """Change what is given; an archived thread is hidden from lists, its runs are not."""
    require(actor, Permission.OPERATE, thread.project)
    thread = Thread.objects.select_for_update(of=("self",)).get(pk=thread.pk)
    if title is not None:
        thread.title = title.strip()
    if archived is not None and archived != (thread.archived_at is not None):
        thread.archived_at = timezone.now() if archived else None
    validated(thread)
    thread.save()
    return thread
