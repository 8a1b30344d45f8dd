"""`make conformance`: every judge that is here, and a table of what they say.

A judge is a module of this folder with a function `judge` that yields verdicts.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import time
import traceback
from collections.abc import Iterator

from tests import conformance
from tests.conformance.verdict import Verdict

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.typing_settings")
MARKS = {True: "ok", False: "FAILED", None: "absent"}


def main(wanted: list[str]) -> int:
    import django

    django.setup()
    verdicts: list[Verdict] = []
    for name in judges():
        if wanted and name not in wanted:
            continue
        for verdict in heard(name):
            verdicts.append(verdict)
            mark = MARKS[verdict.passed]
            print(f"  {mark:<8}{verdict.judge:<44}{verdict.detail}", flush=True)
    failed = sum(verdict.passed is False for verdict in verdicts)
    passed = sum(verdict.passed is True for verdict in verdicts)
    away = len(verdicts) - failed - passed
    print(f"\n{passed} passed, {failed} failed, {away} absent")
    return 1 if failed or not passed else 0


def judges() -> list[str]:
    found = (module.name for module in pkgutil.iter_modules(conformance.__path__))
    return sorted(name for name in found if name not in ("__main__", "verdict"))


def heard(name: str) -> Iterator[Verdict]:
    """Its verdicts; a judge that breaks down is a failure, not the end of the session."""
    module = importlib.import_module(f"tests.conformance.{name}")
    judge = getattr(module, "judge", None)
    if judge is None:
        return
    began = time.monotonic()
    try:
        yield from judge()
    except Exception as error:  # noqa: BLE001  (whatever it is, the others are heard)
        traceback.print_exc()
        yield Verdict(name, False, f"broke down: {error!r}"[:200])
    print(f"          {name} took {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
