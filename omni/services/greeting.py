"""The block that ends a start: where things are, how to sign in, stop, and connect a model."""

from __future__ import annotations

from omni.config import Config
from omni.services import private
from omni.services.misspelt import unknown_settings
from omni.services.supervisor import Administrator
from omni.services.terminal import Terminal

PASSWORD_FILE = "first-password.txt"  # noqa: S105  (a file name)


def greet(
    terminal: Terminal,
    config: Config,
    sign_in: list[tuple[str, str]],
    *,
    seconds: float,
    detached: bool,
) -> None:
    base = config.base_url
    stop = "make down" if detached else "Ctrl-C here, or `make down` elsewhere"
    rows = [
        ("Workspace", f"{base}/"),
        ("Admin", f"{base}/admin/"),
        ("API docs", f"{base}/api/docs/"),
        *sign_in,
        ("Stop", stop),
        ("Look", "make status, make logs, bin/omni doctor"),
        ("Model", _model(config)),
    ]
    terminal.line()
    terminal.line(f"  {terminal.paint('Omni is ready', 32)} after {seconds:.1f} s")
    terminal.line()
    for label, value in rows:
        terminal.line(f"    {terminal.paint(f'{label:<11}', 36)}{value}")
    terminal.line()
    warn(terminal)


def warn(terminal: Terminal) -> None:
    """What would otherwise be overlooked: a setting with a typing error in its name."""
    unknown = unknown_settings()
    for each in unknown:
        terminal.line(f"  {terminal.paint('!', 33)} {each.sentence} {each.remedy}")
    if unknown:
        terminal.line()


def sign_in_rows(config: Config, admin: Administrator, *, to_person: bool) -> list[tuple[str, str]]:
    """The password once, to a person; where some log would keep it, in a private file instead."""
    if admin.password is None:
        return [("Sign in", admin.email)]
    shown = f"{admin.password}   (shown only this once)"
    if not to_person:
        file = private.make_folder(config.key_dir) / PASSWORD_FILE
        private.write(file, f"{admin.password}\n")
        shown = f"in {file}; delete it after the first sign-in"
    return [("Sign in", admin.email), ("Password", shown)]


def _model(config: Config) -> str:
    if config.model_url:
        return config.model_url
    return (
        "put OMNI_MODEL_URL=http://127.0.0.1:11434/v1 (or another endpoint) into .env, start again"
    )
