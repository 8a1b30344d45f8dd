"""Tools: manifests that never change, per-project installations, pins, who uses what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from apps.registry.models import (
    AuditAction,
    AuditEntry,
    Project,
    ProjectUserObjectPermission,
    User,
)
from apps.registry.permissions import may
from apps.registry.roles import Permission, Role
from apps.registry.services.members import refresh_permissions, set_member_roles
from apps.registry.services.projects import create_project
from apps.tools.models import ToolInstallation, ToolOrigin, ToolVersion
from apps.tools.selectors import (
    installed_tool,
    pinned_tool,
    pins_of,
    policies_of,
    tools_of,
    users_of_tool,
)
from apps.tools.services.builtin import load_builtins
from apps.tools.services.tools import (
    deprecate_tool,
    install_tool,
    pin_tool,
    register_tool,
    uninstall_tool,
)
from omni.contracts.canonical import digest
from omni.contracts.errors import Conflict, InvalidInput, NotFound, PermissionDenied
from tests.tools.manifests import MANIFEST, manifest


@pytest.fixture
def tool(project: Project, user: User) -> ToolVersion:
    """In the project's own catalogue, not installed."""
    return register_tool(actor=user, manifest=manifest(), project=project)[0]


@pytest.fixture
def newer(project: Project, user: User) -> ToolVersion:
    return register_tool(actor=user, manifest=manifest(version="1.1.0"), project=project)[0]


@pytest.mark.req("TOOL-1")
def test_a_manifest_is_kept_with_the_hash_of_its_content(tool: ToolVersion) -> None:
    assert tool.sha256 == digest(MANIFEST)
    assert ToolVersion.objects.get(pk=tool.pk).sha256 == digest(tool.manifest)


@pytest.mark.req("TOOL-1")
@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"version": "latest"}, "/version"),
        ({"capabilities": ["fly"]}, "/capabilities/0"),
        ({"input_schema": {"type": "nothing"}}, "/input_schema"),
        ({"output_schema": {"$ref": "https://example.org/s.json"}}, "/output_schema"),
    ],
)
def test_what_is_not_declared_properly_is_refused_at_its_place(
    project: Project, user: User, changes: dict[str, Any], place: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        register_tool(actor=user, manifest=manifest(**changes), project=project)
    assert any(each.startswith(place) for each in caught.value.data["errors"])


@pytest.mark.req("TOOL-1")
def test_only_what_comes_with_the_platform_runs_in_its_process_and_has_its_names(
    project: Project, user: User
) -> None:
    own = {"kind": "inproc_safe", "version": "1.0.0", "config": {"entrypoint": "os:system"}}
    with pytest.raises(InvalidInput, match="built-in"):
        register_tool(actor=user, manifest=manifest(executor=own), project=project)
    builtin = manifest(name="filesystem.read_file", executor=own)
    register_tool(actor=None, manifest=builtin, origin=ToolOrigin.BUILTIN)
    with pytest.raises(InvalidInput, match="has this name"):
        register_tool(
            actor=user, manifest=manifest(name="filesystem.read_file", version="9.0.0"),
            project=project,
        )  # fmt: skip


@pytest.mark.req("TOOL-3")
def test_the_same_content_is_the_same_version_and_other_content_a_conflict(
    project: Project, user: User, tool: ToolVersion
) -> None:
    again, is_new = register_tool(actor=user, manifest=manifest(), project=project)
    assert (again.pk, is_new) == (tool.pk, False)
    with pytest.raises(Conflict):
        register_tool(actor=user, manifest=manifest(risk="high"), project=project)


@pytest.mark.req("TOOL-3")
@pytest.mark.parametrize(
    "change", [{"manifest": {}}, {"sha256": "0" * 64}, {"version": "2.0.0"}, {"name": "other"}]
)
def test_the_database_refuses_to_change_a_published_version(
    tool: ToolVersion, change: dict[str, Any]
) -> None:
    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        ToolVersion.objects.filter(pk=tool.pk).update(**change)
    tool.refresh_from_db()
    assert tool.manifest == MANIFEST


@pytest.mark.req("TOOL-3")
def test_the_database_refuses_to_delete_what_was_used_once(
    project: Project, user: User, tool: ToolVersion, newer: ToolVersion
) -> None:
    install_tool(actor=user, project=project, tool=tool)
    uninstall_tool(actor=user, project=project, name=tool.name)
    with pytest.raises(DatabaseError, match="was used"), transaction.atomic():
        ToolVersion.objects.filter(pk=tool.pk)._raw_delete("default")
    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        ToolVersion.objects.filter(pk=tool.pk).update(first_used_at=None)
    ToolVersion.objects.filter(pk=newer.pk).delete()


@pytest.mark.req("TOOL-3")
def test_versions_stand_side_by_side_and_one_is_what_the_name_means(
    project: Project, user: User, tool: ToolVersion, newer: ToolVersion
) -> None:
    install_tool(actor=user, project=project, tool=tool)
    install_tool(actor=user, project=project, tool=newer)
    assert installed_tool(project.pk, "text.count") == tool
    assert installed_tool(project.pk, "text.count", "1.1.0") == newer
    assert installed_tool(project.pk, "text.count", "^1.0") == tool
    assert installed_tool(project.pk, "text.count", ">1.0.0") == newer
    assert pins_of(project.pk) == {"text.count": {"version": "1.0.0", "sha256": tool.sha256}}
    pin_tool(actor=user, project=project, name="text.count", version="1.1.0")
    assert installed_tool(project.pk, "text.count") == newer
    assert pinned_tool(project.pk, "text.count", tool.sha256) == tool
    with pytest.raises(Conflict, match="stands for"):
        uninstall_tool(actor=user, project=project, name="text.count", version="1.1.0")
    assert uninstall_tool(actor=user, project=project, name="text.count") == 2
    with pytest.raises(NotFound, match="not installed"):
        installed_tool(project.pk, "text.count")
    assert tools_of(project.pk) == []


@pytest.mark.req("TOOL-3")
def test_a_switched_off_tool_is_not_installed(
    project: Project, user: User, tool: ToolVersion
) -> None:
    install_tool(actor=user, project=project, tool=tool)
    ToolInstallation.objects.update(enabled=False)
    with pytest.raises(NotFound):
        installed_tool(project.pk, "text.count")
    assert pins_of(project.pk) == {}
    install_tool(actor=user, project=project, tool=tool)
    assert installed_tool(project.pk, "text.count") == tool


@pytest.mark.req("TOOL-3", "SEC-2")
def test_who_may_keep_tools_and_who_sees_them(
    project: Project, user: User, stranger: User, administrator: User, tool: ToolVersion
) -> None:
    with pytest.raises(NotFound):
        install_tool(actor=stranger, project=project, tool=tool)
    set_member_roles(actor=user, project=project, user=stranger, roles={Role.VIEWER})
    with pytest.raises(PermissionDenied):
        install_tool(actor=stranger, project=project, tool=tool)
    with pytest.raises(PermissionDenied):
        register_tool(actor=user, manifest=manifest(name="all.count"))
    shared, _ = register_tool(actor=administrator, manifest=manifest(name="all.count"))
    zeus = create_project(actor=administrator, name="Zeus")
    with pytest.raises(NotFound):
        install_tool(actor=administrator, project=zeus, tool=tool)
    install_tool(actor=administrator, project=zeus, tool=shared)
    install_tool(actor=user, project=project, tool=shared)
    assert [use.project for use in users_of_tool(user, "all.count")] == [project]
    assert [use.project for use in users_of_tool(administrator, "all.count")] == [zeus]


@pytest.mark.req("SEC-2")
def test_after_an_update_roles_grant_what_they_grant_now(project: Project, user: User) -> None:
    """Members of projects that are older than a permission get it at the next start."""
    held = ProjectUserObjectPermission.objects.filter(user=user)
    held.filter(permission__codename=Permission.MANAGE_TOOLS).delete()
    assert not may(user, Permission.MANAGE_TOOLS, project)
    assert refresh_permissions() == 1
    assert may(user, Permission.MANAGE_TOOLS, project)
    assert refresh_permissions() == 0


def test_everything_is_audited(project: Project, user: User, tool: ToolVersion) -> None:
    install_tool(actor=user, project=project, tool=tool, pin=True)
    deprecate_tool(actor=user, tool=tool, reason="Use text.words instead.")
    uninstall_tool(actor=user, project=project, name=tool.name)
    rows = AuditEntry.objects.filter(project=project, target_type="toolversion")
    assert list(rows.order_by("id").values_list("action", flat=True)) == [
        AuditAction.TOOL_REGISTERED,
        AuditAction.TOOL_INSTALLED,
        AuditAction.TOOL_DEPRECATED,
        AuditAction.TOOL_UNINSTALLED,
    ]
    tool.refresh_from_db()
    assert tool.warning == "Use text.words instead."


@pytest.mark.req("TOOL-7", "POL-2")
def test_what_comes_with_the_platform_is_in_every_project(
    project: Project, user: User, tmp_path: Path
) -> None:
    """Loading again changes nothing; a new version of a known tool moves nobody's pin."""
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "count.json").write_text(json.dumps(manifest(name="built.count")))
    assert load_builtins(tmp_path) == 1
    assert load_builtins(tmp_path) == 0
    assert installed_tool(project.pk, "built.count").version == "1.0.0"
    newer = manifest(name="built.count", version="1.1.0")
    (tmp_path / "manifests" / "newer.json").write_text(json.dumps(newer))
    assert load_builtins(tmp_path) == 1
    assert installed_tool(project.pk, "built.count").version == "1.0.0"
    fresh = create_project(actor=user, name="Zeus")
    assert AuditEntry.objects.filter(project=fresh).count() == 1
    assert installed_tool(fresh.pk, "built.count").version == "1.1.0"


def test_the_platforms_own_content_loads(project: Project) -> None:
    load_builtins()
    assert load_builtins() == 0
    assert [each["name"] for each in policies_of(project.pk)] == ["default"]
