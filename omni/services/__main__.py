"""`python -m omni.services up|down|status|logs|reset`: what the Makefile calls, without Django.

`run web|worker|beat` and `setup` are for containers and units that supervise each process.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from omni import config as settings
from omni.config import Config
from omni.contracts.errors import OmniError
from omni.services import commands, split
from omni.services.state import Status
from omni.services.terminal import Terminal
from omni.telemetry.readable import readable


def main(argv: list[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    try:
        return _run(settings.load(), options)
    except OmniError as error:
        commands.explain(Terminal(2), error)
        return commands.FAILED
    except KeyboardInterrupt:
        return commands.INTERRUPTED
    except BrokenPipeError:
        return commands.OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m omni.services", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("up").add_argument("--detach", action="store_true")
    verbs.add_parser("down")
    verbs.add_parser("status").add_argument("--json", action="store_true")
    logs = verbs.add_parser("logs")
    logs.add_argument("name", nargs="?", default="")
    logs.add_argument("-f", "--follow", action="store_true")
    logs.add_argument("-n", "--lines", type=int, default=40)
    verbs.add_parser("run").add_argument("role", choices=split.ROLES)
    verbs.add_parser("setup")
    verbs.add_parser("reset").add_argument("--yes", action="store_true")
    return parser


def _run(config: Config, options: argparse.Namespace) -> int:
    if options.verb == "up":
        return commands.up(config, detach=options.detach)
    if options.verb == "down":
        return commands.down(config)
    if options.verb == "status":
        return _show_status(commands.status(config), as_json=options.json)
    if options.verb == "logs":
        return _show_logs(config, options)
    if options.verb == "run":
        split.become(config, options.role)
    if options.verb == "setup":
        return split.prepare_database(config)
    return _reset(config, agreed=options.yes)


def _show_status(status: Status, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(status.as_json(), indent=2))
    elif not status.running:
        print("Omni is not running. Start it with `make up`.")
    else:
        print(f"Omni is {status.phase} at {status.url} (supervisor pid {status.pid})\n")
        print(f"{'process':<12}{'state':<12}{'pid':>8}  {'uptime':>9}  {'restarts':>8}  last exit")
        for process in status.processes:
            up = duration(time.time() - process.started_at) if process.started_at else "-"
            print(
                f"{process.name:<12}{process.state:<12}{process.pid or '-':>8}  {up:>9}"
                f"  {process.restarts:>8}  {process.last_exit or '-'}"
            )
    return commands.OK if status.running else commands.NOT_RUNNING


def duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}d {hours}h"
    if hours:
        return f"{hours}h {minutes}m"
    return f"{minutes}m {rest}s" if minutes else f"{rest}s"


def _show_logs(config: Config, options: argparse.Namespace) -> int:
    terminal = Terminal()
    for name, line in commands.follow_logs(
        config, name=options.name, follow=options.follow, lines=options.lines
    ):
        for each in readable(line) if sys.stdout.isatty() else [line]:
            terminal.echo(name, f"{each}\n".encode())
    return commands.OK


def _reset(config: Config, *, agreed: bool) -> int:
    def confirm() -> bool:
        if agreed:
            return True
        print(f"This deletes the database, keys, logs and settings in {config.home}.")
        try:
            return input("Type the word reset to go on: ").strip() == "reset"
        except EOFError:
            return False

    gone = commands.reset(config, confirm=confirm)
    print(f"Deleted from {config.home}: {', '.join(gone)}." if gone else "Nothing was deleted.")
    return commands.OK


if __name__ == "__main__":
    sys.exit(main())
