"""Artifacts, which are reachable only through a run that the person may see."""

from __future__ import annotations

import uuid

from django.db.models import QuerySet

from apps.registry.models import User
from apps.runs.models import Artifact, ArtifactUse, Run
from apps.runs.selectors.runs import visible_runs
from omni.contracts.errors import NotFound


def artifacts_of(run: Run) -> QuerySet[ArtifactUse]:
    """What a run refers to; the door has found the run through `visible_run`."""
    return ArtifactUse.objects.filter(run=run).select_related("artifact")


def use_of_artifact(user: User, sha256: str, run_id: uuid.UUID) -> ArtifactUse:
    """Knowing a hash opens nothing: the run must be visible and refer to it."""
    runs = visible_runs(user).filter(pk=run_id)
    uses = ArtifactUse.objects.filter(artifact=sha256, run__in=runs)
    use = uses.select_related("artifact", "run").order_by("-id").first()
    if use is None:
        raise NotFound("There is no such artifact in this run.")
    return use


def project_artifact(run_id: uuid.UUID, sha256: str) -> Artifact:
    """For the run itself: what any run of its project refers to, and nothing else."""
    project = Run.objects.values("project").filter(pk=run_id)
    use = ArtifactUse.objects.filter(artifact=sha256, run__project__in=project).first()
    if use is None:
        raise NotFound("There is no such artifact in this project.")
    return use.artifact
