"""One process of an installation at a time, for containers and systemd units that supervise it."""

from __future__ import annotations

import json
import os
import subprocess
from typing import NoReturn

from omni.config import Config
from omni.services import wording
from omni.services.greeting import sign_in_rows
from omni.services.program import MARK
from omni.services.programs import make_plan
from omni.services.supervisor import Administrator

ROLES = ("web", "worker", "beat")


def become(config: Config, name: str) -> NoReturn:
    """Turn this process into the web server, the worker or beat; signals reach it directly."""
    plan = make_plan(config, readable_logs=os.isatty(1))
    program = next(program for program in plan.processes if program.name == name)
    # Unmarked: a supervisor on the same home must not take it for a leftover of its own.
    env = {key: value for key, value in program.env.items() if key != MARK}
    os.chdir(program.cwd)
    os.execve(program.argv[0], program.argv, env)  # noqa: S606  (our own argument vector)


def prepare_database(config: Config) -> int:
    """Schema, static files and the first administrator, on the servers that the settings name."""
    program = make_plan(config, readable_logs=os.isatty(1)).setup
    result = subprocess.run(  # noqa: S603  (our own argument vector)
        program.argv,
        cwd=program.cwd,
        env=dict(program.env),
        stdout=subprocess.PIPE,
        check=False,
    )
    if result.returncode:
        raise wording.setup_failed(program.name)
    _show_administrator(config, result.stdout)
    return 0


def _show_administrator(config: Config, answer: bytes) -> None:
    facts = json.loads(answer.decode().strip().splitlines()[-1])
    admin = Administrator(facts["admin_email"], facts["admin_password"])
    for label, value in sign_in_rows(config, admin, to_person=os.isatty(1)):
        print(f"  {label:<11}{value}")
