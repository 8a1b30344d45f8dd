"""What `make up`, `down`, `status`, `logs` and `reset` do, as plain functions for any front end."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from omni.config import Config
from omni.contracts.errors import OmniError
from omni.services import home, wording
from omni.services.greeting import greet, sign_in_rows
from omni.services.logfile import tail
from omni.services.programs import Plan, make_plan
from omni.services.running import running_status
from omni.services.state import Status
from omni.services.supervisor import Supervisor
from omni.services.terminal import Terminal

OK, FAILED, NOT_RUNNING, ALREADY_RUNNING, INTERRUPTED = 0, 1, 3, 4, 130
STOP_SECONDS = 90.0
# Ends the daemon's report to the command that started it; no phase prints this byte.
END_OF_REPORT = b"\0"


def up(config: Config, *, detach: bool = False, plan: Plan | None = None) -> int:
    """Run until stopped, or with `detach` until ready; answers the exit code."""
    tty = os.isatty(1)
    plan = plan or make_plan(config, readable_logs=tty and not detach)
    if detach:
        return _start_daemon(config, plan, to_person=tty)
    return _supervise(config, plan, Terminal(), ready=lambda: None, detached=False, to_person=tty)


def down(config: Config) -> int:
    """Ask the supervisor to stop and wait for it; not running is not an error."""
    terminal = Terminal()
    current = status(config)
    if not current.running:
        terminal.line(wording.not_running().message)
        return OK
    _ask_to_stop(current.pid)
    until = time.monotonic() + STOP_SECONDS
    with terminal.phase("Stopping"):
        while status(config).running:
            if time.monotonic() > until:
                raise wording.would_not_stop(current.pid)
            terminal.tick()
            time.sleep(0.1)
    terminal.line("Omni has stopped; all data is kept.")
    return OK


def status(config: Config) -> Status:
    """What runs now."""
    return running_status(config)


def log_names(config: Config) -> list[str]:
    return sorted(path.stem for path in config.log_dir.glob("*.log"))


def follow_logs(
    config: Config, *, name: str = "", follow: bool = False, lines: int = 40
) -> Iterator[tuple[str, str]]:
    """The last lines as (process, line); with `follow` it goes on until interrupted."""
    known = log_names(config)
    if name and name not in known:
        raise wording.no_such_log(name, known)
    chosen = [name] if name else known
    positions = {}
    for each in chosen:
        path = config.log_dir / f"{each}.log"
        positions[each] = path.stat().st_size
        yield from ((each, line) for line in tail(path, lines))
    while follow:
        for each in chosen:
            fresh, positions[each] = _read_on(config.log_dir / f"{each}.log", positions[each])
            yield from ((each, line) for line in fresh)
        time.sleep(0.3)


def reset(config: Config, *, confirm: Callable[[], bool]) -> list[str]:
    """Delete what Omni made in its home, if `confirm` agrees; answers the names that are gone."""
    if not config.home.is_dir():
        return []
    if not (config.home / home.LABEL).exists():
        raise wording.home_foreign(config.home)
    with home.owned(config.home):
        if not confirm():
            return []
        home.end_leftovers(config.home)
        # Keys still open the secrets in a database that is not ours to delete.
        return home.empty(config.home, keep=frozenset({"keys"} if config.database_url else ()))


def _supervise(
    config: Config,
    plan: Plan,
    terminal: Terminal,
    *,
    ready: Callable[[], None],
    detached: bool,
    to_person: bool,
) -> int:
    supervisor = Supervisor(config, plan, terminal)
    announced = False

    def announce(seconds: float) -> None:
        nonlocal announced
        sign_in = sign_in_rows(config, supervisor.administrator, to_person=to_person)
        greet(terminal, config, sign_in, seconds=seconds, detached=detached)
        announced = True
        ready()

    try:
        supervisor.run(announce=announce)
    except wording.AlreadyRunning as error:
        explain(terminal, error)
        return ALREADY_RUNNING
    except OmniError as error:
        explain(terminal, error)
    except Exception as error:  # noqa: BLE001  (a person gets a sentence, the log the rest)
        explain(terminal, _unexpected(config.log_dir, error))
    else:
        return OK if announced else INTERRUPTED
    if supervisor.administrator.password and not announced:
        for label, value in sign_in_rows(config, supervisor.administrator, to_person=to_person):
            terminal.line(f"  {label}: {value}")
    return FAILED


def explain(terminal: Terminal, error: OmniError) -> None:
    """A sentence and what to do about it."""
    terminal.line()
    terminal.line(f"  {terminal.paint(error.message, 31)}")
    if error.remedy:
        terminal.line(f"  {error.remedy}")


def _unexpected(log_dir: Path, error: Exception) -> OmniError:
    log = log_dir / "supervisor.log"
    try:
        with log.open("a") as file:
            traceback.print_exception(error, file=file)
    except OSError:
        return wording.unexpected(error, None)
    return wording.unexpected(error, log)


def _start_daemon(config: Config, plan: Plan, *, to_person: bool) -> int:
    """The child becomes the supervisor in a session of its own; we show what it reports."""
    report, write = os.pipe()
    terminal = Terminal()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(report)
        os.setsid()
        code = FAILED
        try:
            code = _be_daemon(config, plan, write, colour=terminal.colour, to_person=to_person)
        finally:
            os._exit(code)
    os.close(write)
    try:
        return OK if _relay(report) else _exit_code(pid)
    except KeyboardInterrupt:
        _ask_to_stop(pid)
        return _exit_code(pid) or INTERRUPTED


def _be_daemon(config: Config, plan: Plan, report: int, *, colour: bool, to_person: bool) -> int:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nowhere, handle)
    terminal = Terminal(report, colour=colour)

    def ready() -> None:
        os.write(report, END_OF_REPORT)
        os.close(report)
        terminal.handle = nowhere
        terminal.colour = False

    return _supervise(config, plan, terminal, ready=ready, detached=True, to_person=to_person)


def _relay(report: int) -> bool:
    """Copy the daemon's display to ours; True once it says that it is ready."""
    while piece := os.read(report, 4096):
        text, end, _ = piece.partition(END_OF_REPORT)
        os.write(1, text)
        if end:
            return True
    return False


def _exit_code(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _ask_to_stop(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    except PermissionError:
        raise wording.not_permitted_to_stop(pid) from None


def _read_on(path: Path, position: int) -> tuple[list[str], int]:
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size < position:
                position = 0
            file.seek(position)
            whole, newline, _ = file.read().rpartition(b"\n")
    except OSError:
        return [], 0
    return whole.decode(errors="replace").splitlines(), position + len(whole) + len(newline)
