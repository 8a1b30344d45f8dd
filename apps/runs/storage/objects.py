"""Artifacts in a bucket of an S3-compatible server, through django-storages.

Only imported when OMNI_ARTIFACT_STORE asks for it: the client library takes a while to load.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import IO, Any

import structlog
from boto3.s3.transfer import TransferConfig
from botocore.exceptions import ClientError
from django.core.files.base import File
from storages.backends.s3 import S3Storage

from apps.runs.storage.base import IN_MEMORY, Kept
from omni import bucket
from omni.contracts.errors import NotFound

log = structlog.get_logger(__name__)
# One part at a time, so that an upload holds this much memory and no more.
PART = 8 << 20
# How servers say that they know of no unfinished uploads, or do not list them.
NONE_KNOWN = ("NoSuchUpload", "NotImplemented", "MethodNotAllowed")


class ArtifactObjects(S3Storage):
    """An object appears when its upload is complete, so it too is there whole or not at all."""

    def __init__(self, *, path_style: bool = True, **options: Any) -> None:
        self._connecting = threading.Lock()
        self._shared: Any = None
        super().__init__(
            **options,
            client_config=bucket.client_settings(path_style=path_style),
            transfer_config=TransferConfig(
                multipart_threshold=PART, multipart_chunksize=PART, use_threads=False
            ),
            default_acl=None,
            file_overwrite=True,
            gzip=False,
            max_memory_size=IN_MEMORY,
            # Somebody who reaches the bucket past Omni gets a download too, never a page.
            object_parameters={
                "ContentType": "application/octet-stream",
                "ContentDisposition": "attachment",
            },
        )

    def size_of(self, name: str) -> int | None:
        with _trouble():
            try:
                found = self._client.head_object(Bucket=self.bucket_name, Key=self._key(name))
            except ClientError as error:
                if _status(error) == 404:
                    return None
                raise
            return int(found["ContentLength"])

    def put(self, name: str, stream: IO[bytes]) -> None:
        with _trouble():
            self._save(name, File(stream))

    def fetch(self, name: str) -> IO[bytes]:
        """The whole object lands in a temporary file first, where its reader checks it."""
        with _trouble():
            try:
                file = self._open(name, "rb")
                return file.open()  # type: ignore[no-any-return]
            except FileNotFoundError:
                pass
            except ClientError as error:
                if _status(error) != 404:
                    raise
        # Without the bucket everything is "not found"; that is another sentence.
        self.look()
        raise NotFound("The artifact's bytes are gone.")

    def remove(self, name: str) -> None:
        with _trouble():
            self.delete(name)

    def everything(self) -> Iterator[Kept]:
        with _trouble():
            pages = self._client.get_paginator("list_objects_v2").paginate(**self._here())
            for page in pages:
                for each in page.get("Contents", ()):
                    name = each["Key"].removeprefix(self._key(""))
                    yield Kept(name, each["Size"], each["LastModified"])

    def drop_unfinished(self, before: datetime) -> int:
        """Uploads in parts that nobody completed cost space and are in no listing of objects."""
        with _trouble():
            old = [each for each in self._unfinished() if each["Initiated"] < before]
            for each in old:
                self._client.abort_multipart_upload(
                    Bucket=self.bucket_name, Key=each["Key"], UploadId=each["UploadId"]
                )
        return len(old)

    def look(self) -> None:
        bucket.look(self._client, bucket=self.bucket_name, prefix=self.location)

    @property
    def connection(self) -> Any:
        """One for all threads: only its client is used, which is made for that and slow to make."""
        with self._connecting:
            if self._shared is None:
                self._shared = self._create_session().resource(
                    "s3",
                    region_name=self.region_name,
                    endpoint_url=self.endpoint_url,
                    config=self.client_config,
                )
            return self._shared

    @property
    def _client(self) -> Any:
        return self.connection.meta.client

    def _unfinished(self) -> list[dict[str, Any]]:
        listing = self._client.get_paginator("list_multipart_uploads")
        try:
            pages = list(listing.paginate(**self._here()))
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in NONE_KNOWN:
                return []
            raise
        return [each for page in pages for each in page.get("Uploads", ())]

    def _here(self) -> dict[str, str]:
        return {"Bucket": self.bucket_name, "Prefix": self._key("")}

    def _key(self, name: str) -> str:
        return f"{self.location}/{name}" if self.location else name


@contextmanager
def _trouble() -> Iterator[None]:
    try:
        yield
    except bucket.failures() as error:
        log.error("artifact_store_failed", error=f"{type(error).__name__}: {error}")
        raise bucket.explained(error) from error


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
