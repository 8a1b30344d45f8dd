"""Rows of the runs app."""

from apps.runs.models.approval import Approval
from apps.runs.models.artifact import Artifact, ArtifactUse
from apps.runs.models.budget import BudgetUse
from apps.runs.models.event import RunEvent
from apps.runs.models.projection import Projection
from apps.runs.models.run import GENESIS, Run
from apps.runs.models.thread import Thread
from apps.runs.models.worker import Worker

__all__ = [
    "GENESIS",
    "Approval",
    "Artifact",
    "ArtifactUse",
    "BudgetUse",
    "Projection",
    "Run",
    "RunEvent",
    "Thread",
    "Worker",
]
