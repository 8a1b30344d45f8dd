"""What the browser tests find: a migrated database with a few people and two projects."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import django
from django.core.management import call_command
from django.utils import timezone

PASSWORD = "correct-horse-9"
PEOPLE: dict[str, dict[str, Any]] = {
    "ada": {"email": "ada@example.org", "name": "Ada Lovelace", "is_staff": True},
    "alan": {"email": "alan@example.org", "name": "Alan Turing"},
    "eve": {"email": "eve@example.org", "name": "Eve"},
    "grace": {
        "email": "grace@example.org",
        "name": "Grace Hopper",
        "is_staff": True,
        "is_superuser": True,
    },
}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    call_command("migrate", verbosity=0)
    _people_and_projects()


def _people_and_projects() -> None:
    from apps.registry.models import User
    from apps.registry.roles import Role
    from apps.registry.services.members import set_member_roles
    from apps.registry.services.projects import create_project
    from apps.runs.models import Worker
    from apps.runs.services.workers import start_worker
    from apps.tools.services.builtin import load_builtins
    from apps.tools.services.policies import add_project_rule
    from apps.tools.services.secrets import set_secret
    from apps.tools.services.tools import install_tool, register_tool
    from tests.mcp.furnish import furnished_server
    from tests.tools.manifests import manifest
    from tests.tools.policies import rule

    people = {
        name: User.objects.create_user(password=PASSWORD, **about) for name, about in PEOPLE.items()
    }
    apollo = create_project(actor=people["ada"], name="Apollo", description="A first project.")
    set_member_roles(actor=people["ada"], project=apollo, user=people["alan"], roles={Role.VIEWER})
    set_secret(actor=people["ada"], project=apollo, name="API_KEY", value="sesame-open-4711")
    furnished_server(people["ada"], apollo)
    load_builtins()
    for version in ("1.0.0", "1.1.0"):
        about = manifest(version=version)
        tool, _ = register_tool(actor=people["ada"], manifest=about, project=apollo)
        install_tool(actor=people["ada"], project=apollo, tool=tool)
    allow = rule("allow", "counting", tools=["text.count"])
    add_project_rule(actor=people["ada"], project=apollo, rule=allow)
    create_project(actor=people["eve"], name="Elsewhere")
    start_worker(kind=Worker.Kind.WORKER, pid=4711, queues=["omni"])
    # It reports for good: pages must not change between two looks because it fell silent.
    Worker.objects.update(seen_at=timezone.now() + timedelta(days=1))


if __name__ == "__main__":
    main()
