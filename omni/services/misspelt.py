"""Names that begin with OMNI_ but are no setting: a typing error would otherwise go unnoticed."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields

from dotenv import dotenv_values

from omni.config import ROOT, Config

PREFIX = "OMNI_"
# Read by the command line, compose.yaml and the tests, not by the platform.
READ_ELSEWHERE = frozenset({"URL", "TOKEN", "POSTGRES_PASSWORD", "CHROMIUM", "SOAK"})
# Below this likeness a suggestion is a guess: PROT is near PORT, COLOUR near nothing.
ALIKE = 0.7


@dataclass(frozen=True)
class Unknown:
    """A name that nothing reads, and the setting that was probably meant."""

    name: str
    meant: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.name} is no setting of Omni and has no effect."

    @property
    def remedy(self) -> str:
        if self.meant:
            return f"Did you mean {self.meant}? Correct the name or unset it."
        return "Unset it; docs/settings.md lists what there is."


def unknown_settings(environ: Mapping[str, str] | None = None) -> list[Unknown]:
    """Those of the environment and of `.env`, in alphabetical order; values are not looked at."""
    names = {*os.environ, *dotenv_values(ROOT / ".env")} if environ is None else {*environ}
    given = {name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)}
    known = {spec.name.upper() for spec in fields(Config)} | READ_ELSEWHERE
    return [Unknown(PREFIX + name, _nearest(name, sorted(known))) for name in sorted(given - known)]


def _nearest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=ALIKE)
    return PREFIX + close[0] if close else ""
