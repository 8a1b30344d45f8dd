"""Scripts, styles and fonts of all packages, gathered once per version for the web server."""

from __future__ import annotations

import hashlib
from pathlib import Path

from django.conf import settings
from django.core.management import call_command

OWN = Path(__file__).parent / "static"


def collect_assets() -> bool:
    """Gather the static files when they changed since the last time; answers whether it did."""
    stamp = Path(settings.STATIC_ROOT) / ".version"
    version = _version()
    if stamp.exists() and stamp.read_text() == version:
        return False
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    stamp.write_text(version)
    return True


def _version() -> str:
    """What the files depend on: our own ones and the pinned packages."""
    digest = hashlib.sha256((settings.BASE_DIR / "requirements.txt").read_bytes())
    for path in sorted(OWN.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(OWN)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
