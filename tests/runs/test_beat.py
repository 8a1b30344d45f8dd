"""Beat as its supervisor sees it."""

from __future__ import annotations

import subprocess

import psycopg
import pytest

from omni import config
from omni.services.programs import make_plan
from tests.chaos.crew import environment, test_database_url
from tests.services.installation import eventually

pytestmark = [pytest.mark.req("OPS-1"), pytest.mark.django_db(transaction=True)]
WAITING = """SELECT 1 FROM pg_locks WHERE NOT granted
             AND relation = 'django_celery_beat_periodictask'::regclass"""


def test_beat_stops_in_the_middle_of_a_query() -> None:
    """Told to stop while the database keeps it waiting, it ends by itself and is not killed."""
    url = test_database_url()
    plan = make_plan(config.current(), readable_logs=False)
    program = next(each for each in plan.processes if each.name == "beat")
    with psycopg.connect(url) as busy, psycopg.connect(url, autocommit=True) as watch:
        busy.execute("LOCK TABLE django_celery_beat_periodictask")
        beat = subprocess.Popen(program.argv, cwd=program.cwd, env=environment(url))
        try:
            eventually(lambda: watch.execute(WAITING).fetchone(), seconds=60)
            beat.terminate()
            assert beat.wait(60) == 0
        finally:
            beat.kill()
            beat.wait()
