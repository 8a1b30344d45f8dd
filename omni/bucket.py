"""A bucket of an S3-compatible server: how it is reached, and what its refusals mean.

Importing this costs nothing: the client library is loaded when a bucket is really used.
"""

from __future__ import annotations

import uuid
from typing import Any

from omni.config import Config
from omni.contracts.errors import Unavailable

CONNECT_SECONDS = 3
READ_SECONDS = 30
ATTEMPTS = 3
_KEY = (
    "The artifact store refuses the key.",
    "Check OMNI_ARTIFACT_ACCESS_KEY, OMNI_ARTIFACT_SECRET_KEY and what that key may do: list, "
    "read, write and delete.",
)
_BUCKET = ("The artifact store has no such bucket.", "Make it, or correct OMNI_ARTIFACT_BUCKET.")
_REGION = ("The bucket of artifacts is in another region.", "Correct OMNI_ARTIFACT_REGION.")
_CLOCK = ("The artifact store says that this machine's clock is wrong.", "Set the clock.")
_SILENT = (
    "The artifact store does not answer.",
    "Try again later; if it stays away, check OMNI_ARTIFACT_ENDPOINT and the network.",
)
_MEANINGS = {
    "NoSuchBucket": _BUCKET,
    "AccessDenied": _KEY,
    "ExpiredToken": _KEY,
    "InvalidAccessKeyId": _KEY,
    "InvalidToken": _KEY,
    "SignatureDoesNotMatch": _KEY,
    "403": _KEY,
    "301": _REGION,
    "AuthorizationHeaderMalformed": _REGION,
    "PermanentRedirect": _REGION,
    "RequestTimeTooSkewed": _CLOCK,
}


def client_settings(*, path_style: bool, patience: float = READ_SECONDS) -> Any:
    """Bounded waiting; checksums beyond the protocol's own only where a server demands them."""
    from botocore.config import Config as ClientConfig

    return ClientConfig(
        s3={"addressing_style": "path" if path_style else "virtual"},
        signature_version="s3v4",
        connect_timeout=CONNECT_SECONDS,
        read_timeout=patience,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        max_pool_connections=20,
    )


def connect(config: Config) -> Any:
    """A client of its own, for whoever only wants to look."""
    import boto3

    return boto3.client(
        "s3",
        endpoint_url=config.artifact_endpoint or None,
        region_name=config.artifact_region,
        aws_access_key_id=config.artifact_access_key or None,
        aws_secret_access_key=config.artifact_secret_key or None,
        config=client_settings(path_style=config.artifact_path_style, patience=CONNECT_SECONDS),
    )


def explained(error: Exception) -> Unavailable:
    """One sentence that names no host and no key, and what the operator does about it."""
    from botocore.exceptions import ClientError, NoCredentialsError, PartialCredentialsError

    if isinstance(error, NoCredentialsError | PartialCredentialsError):
        return Unavailable("The artifact store has no key to work with.", remedy=_KEY[1])
    if isinstance(error, ClientError):
        code = str(error.response.get("Error", {}).get("Code", ""))
        if code in _MEANINGS:
            sentence, remedy = _MEANINGS[code]
            return Unavailable(sentence, remedy=remedy)
        return Unavailable(f"The artifact store failed ({code[:60]}).", remedy="Try again later.")
    if isinstance(error, OSError) and not isinstance(error, ConnectionError | TimeoutError):
        # Not the server: the temporary file that a transfer passes through.
        reason = (error.strerror or "it failed").lower()
        return Unavailable(f"This machine's disk cannot be used: {reason}.", remedy="Free space.")
    return Unavailable(_SILENT[0], remedy=_SILENT[1])


def failures() -> tuple[type[Exception], ...]:
    """Whatever the client library raises when a server is away or refuses."""
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError

    return BotoCoreError, ClientError, Boto3Error, OSError


def look(client: Any, *, bucket: str, prefix: str = "") -> None:
    """Whether the bucket can be listed; raises Unavailable with the reason."""
    try:
        # Listing, for a refusal of it says more than the bare status of a HEAD.
        client.list_objects_v2(Bucket=bucket, MaxKeys=1, Prefix=f"{prefix}/" if prefix else "")
    except failures() as error:
        raise explained(error) from error


def try_writing(client: Any, *, bucket: str, prefix: str = "") -> None:
    """Whether a small object can be stored and removed; raises Unavailable with the reason."""
    key = "/".join(filter(None, (prefix, "probe", str(uuid.uuid4()))))
    try:
        client.put_object(Bucket=bucket, Key=key, Body=b"")
        client.delete_object(Bucket=bucket, Key=key)
    except failures() as error:
        raise explained(error) from error
