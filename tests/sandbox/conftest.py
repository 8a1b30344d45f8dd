"""A zygote for a module of tests, so that each does not pay for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from omni.sandbox.job import Job, Limits, Result, run_in
from omni.sandbox.zygote import Zygote

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    made = Zygote()
    yield made
    made.close()


@pytest.fixture(scope="module")
def run_python(zygote: Zygote) -> Run:
    """Runs a program in a cell; words are fields of the job."""

    def run(code: str, **words: object) -> Result:
        words.setdefault("limits", Limits(wall_seconds=90, cpu_seconds=60))
        cancelled = words.pop("cancelled", lambda: False)
        job = Job(("python3", "-I", "-S", "-c", code), **words)  # type: ignore[arg-type]
        return run_in(zygote.open, job, cancelled=cancelled)  # type: ignore[arg-type]

    return run
