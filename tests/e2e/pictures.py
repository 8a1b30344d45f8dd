"""Takes the pictures in docs/images anew: `.venv/bin/python -m tests.e2e.pictures`.

A throw-away installation is started, filled with an invented team's work, and looked at.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.bench.__main__ import ROOT, Installation

IMAGES = ROOT / "docs" / "images"
ADA, PASSWORD = "ada@example.org", "correct-horse-9"
DESKTOP = {"viewport": {"width": 1360, "height": 860}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
    "device_scale_factor": 2,
}
PICTURES: dict[str, dict[str, Any]] = {
    "workspace": DESKTOP,
    "workspace-dark": {**DESKTOP, "color_scheme": "dark"},
    "workspace-phone": PHONE,
}
PROJECTS = {
    "Website": "Texts, pictures and the weekly check of every link.",
    "Invoice intake": "Reads invoices from the mailbox and proposes bookings.",
    "Literature review": "Weekly digest of papers on durable execution.",
    "Customer support": "Drafts answers to tickets and files them after a person agrees.",
}
QUESTIONS = {
    "Literature review": "What is new on event sourcing this week?",
    "Customer support": "Draft an answer to ticket 4711.",
    "Website": "Which links are broken?",
}
ASK = {"do": "ask", "title": "Book 14 invoices, 3,812.40 EUR in total?"}


def main() -> None:
    if sys.argv[1:] == ["seed"]:
        return _seed()
    home = Path(tempfile.mkdtemp(prefix="omni-pictures-"))
    installation = Installation(home)
    installation.environment |= {"OMNI_NODE_ID": "atlas", "OMNI_PROCESS": "command"}
    try:
        installation.command("up", "--detach")
        seed = [sys.executable, "-m", "tests.e2e.pictures", "seed"]
        subprocess.run(seed, cwd=ROOT, env=installation.environment, check=True)
        _photograph(f"http://127.0.0.1:{installation.port}")
    finally:
        installation.command("down")
        shutil.rmtree(home, ignore_errors=True)


def _seed() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "omni.settings")
    django.setup()
    import omni.celery  # noqa: F401  (services send hints through this application)
    from apps.registry.models import User
    from apps.registry.services.projects import create_project
    from apps.runs.services.runs import create_run, create_thread

    ada = User.objects.create_user(ADA, PASSWORD, name="Ada Lovelace")
    projects = {
        name: create_project(actor=ada, name=name, description=text)
        for name, text in PROJECTS.items()
    }
    for name, text in QUESTIONS.items():
        thread = create_thread(actor=ada, project=projects[name], title=text)
        create_run(actor=ada, thread=thread, run_kind="echo", input={}, text=text)
    thread = create_thread(actor=ada, project=projects["Invoice intake"], title="Invoices of May")
    create_run(actor=ada, thread=thread, run_kind="script", input={"actions": [ASK]})


def _photograph(site: str) -> None:
    executable = os.environ.get("OMNI_CHROMIUM", "/usr/bin/chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for name, options in PICTURES.items():
            page = browser.new_context(base_url=site, reduced_motion="reduce", **options).new_page()
            page.goto("/login")
            page.get_by_label("Email address").fill(ADA)
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Sign in").click()
            page.get_by_text("Waiting for approval").first.wait_for()
            page.evaluate("document.fonts.ready")
            page.screenshot(path=IMAGES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
