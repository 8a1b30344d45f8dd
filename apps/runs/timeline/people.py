"""Who an event's actor is, in the words people use."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from apps.registry.models import User

USER = "user:"
FIXED = {"system": "Omni", "worker": "A worker"}


class People:
    """Names of actors; each person is asked for once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def learn(self, actors: Iterable[str]) -> None:
        """One query for all who are not known yet."""
        wanted = {a for a in actors if a.startswith(USER) and a not in self._known}
        ids = {uuid.UUID(actor.removeprefix(USER)) for actor in wanted}
        found = User.objects.in_bulk(ids) if ids else {}
        for actor in wanted:
            person = found.get(uuid.UUID(actor.removeprefix(USER)))
            self._known[actor] = str(person) if person else "Somebody who left"

    def name(self, actor: str) -> str:
        kind, _, rest = actor.partition(":")
        if kind == "user":
            return self._known.get(actor, "Somebody")
        return FIXED.get(kind, rest or actor)
