"""Where the bytes of artifacts are kept: on a disk or in a bucket, with the same guarantees."""

from apps.runs.storage.base import ArtifactStore, Kept, artifact_store

__all__ = ["ArtifactStore", "Kept", "artifact_store"]
