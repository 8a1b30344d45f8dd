"""Checks documents against the contracts; a refusal names the place and the rule."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NoReturn

import jsonschema_rs
from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError

from omni.contracts import catalogue
from omni.contracts.bounds import MAX_BYTES, check_bounds, invalid, pointer
from omni.contracts.errors import InvalidInput

MAX_VIOLATIONS = 10
MAX_MESSAGE = 300
# Stands for the offending value in messages, which must not carry secrets into logs.
MASK = "the value"
LINEAR_TIME = RegexOptions(size_limit=1_000_000, dfa_size_limit=10_000_000)
BRANCHES = ("anyOf", "oneOf")


def validate(name: str, instance: Any, *, max_bytes: int = MAX_BYTES) -> None:
    """Refuse an instance that does not follow the contract of this name."""
    check_bounds(instance, max_bytes=max_bytes)
    validator = _validator(name)
    if not validator.is_valid(instance):
        raise explain(validator.iter_errors(instance), what=_what(name))


def validate_payload(
    kind: str, name: str | None, payload: Any, *, max_bytes: int = MAX_BYTES
) -> None:
    """Refuse a payload that does not follow the schema of its event kind and name."""
    validate(catalogue.payload_schema(kind, name), payload, max_bytes=max_bytes)


def validate_event(event: Any, *, max_bytes: int = MAX_BYTES) -> None:
    """Envelope and payload together; an erased payload has nothing left to check."""
    validate("run-event", event, max_bytes=max_bytes)
    if event["payload"] is not None:
        validate_payload(event["kind"], event["name"], event["payload"], max_bytes=max_bytes)


def explain(errors: Iterable[ValidationError], *, what: str) -> InvalidInput:
    """An error for people and programs from the first few violations."""
    rows = []
    for error in errors:
        rows.append(_violation(error))
        if len(rows) == MAX_VIOLATIONS:
            break
    # The most precise place first: that is what someone has to change.
    rows.sort(key=lambda row: -row[0].count("/"))
    return invalid(rows, what=what)


def refuse_retrieval(uri: str) -> NoReturn:
    """No schema is ever fetched from a disk or a network."""
    raise InvalidInput(f"The schema refers to “{uri[:200]}”, which is not part of it.")


def _violation(error: ValidationError) -> tuple[str, str, str]:
    precise = _most_precise(error)
    rule = precise.kind.name
    message = precise.message
    if isinstance(precise.kind, jsonschema_rs.ValidationErrorKind.PropertyNames):
        message = f"a member has a name that is not allowed: {precise.kind.error.message}"
    if len(message) > MAX_MESSAGE:
        message = f"{message[:MAX_MESSAGE]}…"
    return pointer(precise.instance_path), rule, message


def _most_precise(error: ValidationError) -> ValidationError:
    """Of the branches of a choice, the errors of the one that comes nearest."""
    while error.kind.name in BRANCHES:
        context: list[list[ValidationError]] = getattr(error.kind, "context", [])
        branches = [branch for branch in context if branch]
        if not branches:
            return error
        nearest = sorted(branches, key=_distance)[0]
        error = max(nearest, key=lambda each: len(each.instance_path))
    return error


def _distance(branch: list[ValidationError]) -> tuple[bool, int]:
    """A branch of another kind is far, whatever else it says."""
    other = any(each.kind.name in ("const", "type") for each in branch)
    return other, len(branch)


def _what(name: str) -> str:
    if name.startswith("payloads/"):
        return f"The payload of {name.rpartition('/')[2]}"
    return f"The {name.replace('-', ' ')}"


@cache
def _registry() -> jsonschema_rs.Registry:
    resources = [
        (catalogue.uri(name, version), catalogue.schema(name, version))
        for version in catalogue.versions()
        for name in catalogue.names_in(version)
    ]
    return jsonschema_rs.Registry(resources, retriever=refuse_retrieval)


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(
        catalogue.schema(name),
        registry=_registry(),
        retriever=refuse_retrieval,
        pattern_options=LINEAR_TIME,
        validate_formats=True,
        ignore_unknown_formats=False,
        mask=MASK,
    )
