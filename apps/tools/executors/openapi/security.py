"""Where credentials go: the schemes of a document and which of them a call can satisfy."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from apps.tools.executors.openapi.document import Document, Unusable, mapping
from apps.tools.executors.openapi.operations import Operation, Parameter


@dataclass(frozen=True, slots=True)
class Placement:
    """One credential: its secret, where it goes, under which name."""

    scheme: str
    secret: str
    place: str
    """header, query or cookie."""
    name: str
    form: str
    """plain, basic or bearer."""


@dataclass(slots=True)
class Signed:
    """What credentials add to a request; `spellings` is what must not show up anywhere."""

    headers: dict[str, str] = field(default_factory=dict)
    query: list[tuple[str, str]] = field(default_factory=list)
    cookies: list[tuple[str, str]] = field(default_factory=list)
    spellings: set[str] = field(default_factory=set)


def placements(
    document: Document, operation: Operation, secrets: Mapping[str, str], single: str = ""
) -> tuple[Placement, ...] | None:
    """The first alternative that the secrets satisfy; None when the operation stays unsigned.

    `secrets` are references by scheme; `single` serves an alternative that needs only one scheme.
    """
    for schemes in operation.security:
        chosen = []
        for scheme in schemes:
            secret = secrets.get(scheme) or (single if len(schemes) == 1 else "")
            placed = _placement(document, scheme, secret) if secret else None
            if placed is None:
                break
            chosen.append(placed)
        else:
            if chosen:
                return tuple(chosen)
    return None


def covers(placed: tuple[Placement, ...], parameter: Parameter) -> bool:
    """Whether a credential stands where the document also lists a parameter."""
    return any(
        each.place == parameter.place and each.name.lower() == parameter.name.lower()
        for each in placed
    )


def needs_credential(operation: Operation) -> bool:
    """Whether no alternative lets anybody in."""
    return bool(operation.security) and () not in operation.security


def sign(placed: tuple[Placement, ...], values: Mapping[str, str]) -> Signed:
    """What to add to the request, from the values of the secrets."""
    signed = Signed()
    for each in placed:
        value = values[each.secret]
        # As it is, in an address, and in a JSON text.
        signed.spellings |= {value, quote(value, safe=""), json.dumps(value)[1:-1]}
        if each.form == "basic":
            value = base64.b64encode(value.encode()).decode()
            signed.spellings.add(value)
        prefix = {"basic": "Basic ", "bearer": "Bearer "}.get(each.form, "")
        if each.place == "header":
            signed.headers[each.name] = prefix + value
        elif each.place == "query":
            signed.query.append((each.name, value))
        else:
            signed.cookies.append((each.name, value))
    return signed


def _placement(document: Document, scheme: str, secret: str) -> Placement | None:
    known = mapping(mapping(document.root.get("components")).get("securitySchemes"))
    try:
        spec = document.follow(known.get(scheme), "the scheme")
    except Unusable:
        return None
    kind = spec.get("type")
    if kind == "apiKey":
        place, name = spec.get("in"), spec.get("name")
        if place in ("header", "query", "cookie") and isinstance(name, str) and name.isprintable():
            return Placement(scheme, secret, str(place), name, "plain")
        return None
    if kind == "http":
        form = {"basic": "basic", "bearer": "bearer"}.get(str(spec.get("scheme")).lower())
        return Placement(scheme, secret, "header", "Authorization", form) if form else None
    if kind in ("oauth2", "openIdConnect"):
        return Placement(scheme, secret, "header", "Authorization", "bearer")
    return None
