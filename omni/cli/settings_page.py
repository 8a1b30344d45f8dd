"""docs/settings.md, written from the settings themselves."""

from __future__ import annotations

from dataclasses import Field, fields
from pathlib import Path
from typing import Any, get_type_hints

from omni import config
from omni.cli.settings import as_text

HEAD = """\
# Settings

Every setting is an environment variable, or a line in a file `.env` beside `manage.py` (the
environment wins). `omni settings` shows the values in effect and where each comes from. Settings
marked *secret* are masked there and redacted from logs.

Made by `make docs` from `omni/config.py`; change the text there.
"""
CLIENT = """
## Command line

Read by commands that talk to a server, see [cli.md](cli.md).

| setting | default | meaning |
| --- | --- | --- |
| `OMNI_URL` | *empty* | Server that `omni` talks to. Empty: the saved login, else this machine. |
| `OMNI_TOKEN` | *empty* | *Secret.* API token for that server. Empty: the one of the saved login. |
"""
_KINDS = {int: "number", bool: "yes or no"}


def page() -> str:
    kinds = get_type_hints(config.Config)
    specs = fields(config.Config)
    text = HEAD
    for section in dict.fromkeys(spec.metadata["section"] for spec in specs):
        text += f"\n## {section}\n\n| setting | default | meaning |\n| --- | --- | --- |\n"
        for spec in specs:
            if spec.metadata["section"] == section:
                text += _row(spec, kinds[spec.name])
    return text + CLIENT


def _default(spec: Field[Any]) -> str:
    """The same on every machine, so that the page changes only with the settings."""
    if spec.name == "node_id":
        return "the machine's host name"
    if isinstance(spec.default, Path):
        return f"`<checkout>/{spec.default.relative_to(config.ROOT)}`"
    text = as_text(spec.default)
    return f"`{text}`" if text else "*empty*"


def _row(spec: Field[Any], kind: Any) -> str:
    meaning = " ".join(spec.metadata["help"].split()).replace("|", "\\|")
    note = "*Secret.* " if spec.metadata["secret"] else ""
    wanted = f" ({_KINDS[kind]})" if kind in _KINDS else ""
    return f"| `OMNI_{spec.name.upper()}`{wanted} | {_default(spec)} | {note}{meaning} |\n"
