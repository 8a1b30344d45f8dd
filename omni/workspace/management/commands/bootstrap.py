"""First start: schema, static files, the administrator, the built-in content, the CLI's token."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from apps.registry.services.bootstrap import bootstrap
from apps.tools.services.builtin import load_builtins
from omni.workspace.assets import collect_assets


class Command(BaseCommand):
    requires_system_checks = ()  # the tests run them; here they would only cost time
    help = "Prepare an installation: static files, administrator, built-in content. Safe to repeat."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--migrate", action="store_true", help="Bring the schema up first.")
        parser.add_argument(
            "--json", action="store_true", dest="as_json", help="A line per finished part."
        )

    def handle(
        self, *args: Any, migrate: bool = False, as_json: bool = False, **options: Any
    ) -> None:
        if migrate:
            # Not to stdout, which is for the program that started this one.
            call_command("migrate", interactive=False, stdout=self.stderr)
            self._tell("schema", as_json=as_json)
        collect_assets()
        self._tell("assets", as_json=as_json)
        result = bootstrap()
        load_builtins()
        if as_json:
            self.stdout.write(json.dumps(result))
        elif result["admin_password"]:
            self.stdout.write(f"Administrator: {result['admin_email']}")
            self.stdout.write(f"Password (shown once): {result['admin_password']}")
        else:
            self.stdout.write("Everything is in place.")

    def _tell(self, part: str, *, as_json: bool) -> None:
        """The supervisor starts what needs only this much."""
        if as_json:
            self.stdout.write(json.dumps({"done": part}))
            self.stdout.flush()
