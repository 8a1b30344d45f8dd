"""Names that begin with OMNI_ but are no setting: a typing error would otherwise go unnoticed."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields

from dotenv import dotenv_values

from omni.config import ROOT, Config

# Read by the command line, compose.yaml and the tests, not by the platform.
READ_ELSEWHERE = frozenset(
    {"OMNI_URL", "OMNI_TOKEN", "OMNI_POSTGRES_PASSWORD", "OMNI_CHROMIUM", "OMNI_SOAK"}
)
# Below this likeness a suggestion is a guess: OMNI_PROT is near OMNI_PORT, OMNI_COLOUR to nothing.
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
    known = {f"OMNI_{spec.name.upper()}" for spec in fields(Config)} | READ_ELSEWHERE
    strange = sorted(name for name in names if name.startswith("OMNI_") and name not in known)
    return [Unknown(name, _nearest(name, known)) for name in strange]


def _nearest(name: str, known: set[str]) -> str:
    """Compared without what all of them share."""
    bare = {each.removeprefix("OMNI_"): each for each in sorted(known)}
    close = difflib.get_close_matches(name.removeprefix("OMNI_"), bare, n=1, cutoff=ALIKE)
    return bare[close[0]] if close else ""
