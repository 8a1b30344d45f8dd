"""Files of runs: given, listed, fetched. A file's name is the hash of its content."""

from __future__ import annotations

import uuid

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.doors import Door
from apps.registry.api.fields import Query, Text
from apps.registry.api.idempotency import idempotent
from apps.runs.api.transfer import UploadDoor
from apps.runs.download import download
from apps.runs.models import ArtifactUse
from apps.runs.selectors import artifacts_of, use_of_artifact, visible_run
from apps.runs.services.artifacts import attach_artifact, open_artifact

BYTES = "application/octet-stream"


class ArtifactSerializer(serializers.ModelSerializer[ArtifactUse]):
    sha256 = serializers.CharField(
        source="artifact_id", read_only=True, help_text="SHA-256 of the content."
    )
    size = serializers.IntegerField(source="artifact.size", read_only=True, help_text="Bytes.")
    run = serializers.UUIDField(source="run_id", read_only=True, help_text="The run it is in.")
    url = serializers.SerializerMethodField(help_text="Where to fetch it.")

    class Meta:
        model = ArtifactUse
        fields = ("sha256", "size", "media_type", "name", "run", "url", "created_at")
        read_only_fields = fields

    def get_url(self, use: ArtifactUse) -> str:
        return f"/api/artifacts/{use.artifact_id}?run={use.run_id}"


class UploadQuery(Query):
    name = Text(required=False, max_length=255, help_text="What to call the file.")


class FetchQuery(Query):
    run = serializers.UUIDField(help_text="A run that refers to it and that you may see.")


class RunArtifacts(UploadDoor):
    tag = "artifacts"
    ordering = ("-id",)

    @extend_schema(operation_id="list_artifacts", responses=ArtifactSerializer(many=True))
    def get(self, request: Request, id: uuid.UUID) -> Response:
        """List the files of a run, the latest first."""
        self.filters()
        return self.page(artifacts_of(visible_run(self.person, id)), ArtifactSerializer)

    @extend_schema(
        operation_id="upload_artifact",
        parameters=[UploadQuery],
        request={BYTES: OpenApiTypes.BINARY},
        responses={201: ArtifactSerializer},
    )
    @idempotent
    def post(self, request: Request, id: uuid.UUID) -> Response:
        """Give a run a file: the body is its content, Content-Type its media type.

        The same bytes are stored once, however often they are given.
        """
        named = self.filters(UploadQuery)
        run = visible_run(self.person, id)
        upload = self.upload()
        use = attach_artifact(
            actor=self.person,
            run=run,
            received=upload.received,
            media_type=upload.media_type,
            **named,
        )
        return Response(ArtifactSerializer(use).data, status=status.HTTP_201_CREATED)


class ArtifactContent(Door):
    tag = "artifacts"

    @extend_schema(
        operation_id="fetch_artifact",
        parameters=[FetchQuery],
        responses={(200, BYTES): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, sha256: str) -> HttpResponseBase:
        """Fetch a file through a run that refers to it; knowing its hash alone opens nothing.

        Its bytes are checked against the hash first. It always comes as a download of unnamed
        type, so that no browser shows or runs what somebody else made.
        """
        use = use_of_artifact(self.person, sha256, self.filters(FetchQuery)["run"])
        stream = open_artifact(sha256)
        size, name = use.artifact.size, use.name or "artifact"
        return download(request._request, stream, size=size, name=name)
