"""Old documents stay readable: each shim lifts one contract from one version to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from omni.contracts import catalogue
from omni.contracts.errors import ConfigError, InvalidInput

Document = dict[str, Any]
Shim = Callable[[Document], Document]


class Shims:
    """Which function lifts which contract from which version."""

    def __init__(self, latest: Callable[[str], int] = catalogue.latest) -> None:
        self._latest = latest
        self._known: dict[tuple[str, int], Shim] = {}

    def shim(self, name: str, from_version: int) -> Callable[[Shim], Shim]:
        """Registers a function that takes a document of `from_version` and returns the next."""

        def register(function: Shim) -> Shim:
            if (name, from_version) in self._known:
                raise ValueError(f"{name} has two shims from version {from_version}.")
            self._known[name, from_version] = function
            return function

        return register

    def has(self, name: str, from_version: int) -> bool:
        return (name, from_version) in self._known

    def upgrade(self, name: str, document: Document, version: int | None = None) -> Document:
        """The document as the latest version writes it; the one given is left as it is.

        The version is the document's own `schema_version` unless it is known from outside, as
        that of a payload is from its event.
        """
        newest = self._latest(name)
        found = version if version is not None else _own_version(document)
        if found > newest:
            raise InvalidInput(
                f"This {name} follows version {found}; this Omni reads up to {newest}.",
                remedy="Update Omni, or export the document for an older version.",
                data={"version": found, "latest": newest},
            )
        for step in range(found, newest):
            if not self.has(name, step):
                raise ConfigError(f"No shim lifts {name} from version {step}.")
            document = self._known[name, step](dict(document))
        return document


def upgrade_event(event: Document, using: Shims | None = None) -> Document:
    """The event with its payload in the latest version; its hashes still speak of the old one."""
    name = catalogue.payload_schema(event["kind"], event["name"])
    version = event["schema_version"]
    if event["payload"] is None:
        return event
    payload = (using or shims).upgrade(name, event["payload"], version)
    return {**event, "payload": payload}


def _own_version(document: Document) -> int:
    version = document.get("schema_version", 1)
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise InvalidInput.field("schema_version", "schema_version must be a whole number.")
    return version


shims = Shims()
