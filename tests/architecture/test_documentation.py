"""Nothing that people rely on is undocumented, and the documents name nothing that is gone."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from omni.config import Config

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SETTING = re.compile(r"\bOMNI_[A-Z][A-Z0-9_]*[A-Z0-9]\b")
# Read by the command line alone; described in docs/cli.md.
CLIENT_SETTINGS = {"OMNI_URL", "OMNI_TOKEN"}
# Read by compose.yaml alone, which puts it into the address of the database.
COMPOSE_SETTINGS = {"OMNI_POSTGRES_PASSWORD"}


def known_settings() -> set[str]:
    return {f"OMNI_{spec.name.upper()}" for spec in fields(Config)} | CLIENT_SETTINGS


def test_every_setting_is_documented() -> None:
    text = (DOCS / "settings.md").read_text()
    assert {name for name in known_settings() - CLIENT_SETTINGS if name not in text} == set()


def test_documents_name_no_setting_that_does_not_exist() -> None:
    unknown = {}
    for path in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]:
        names = set(SETTING.findall(path.read_text())) - known_settings() - COMPOSE_SETTINGS
        if names:
            unknown[str(path.relative_to(ROOT))] = names
    assert unknown == {}


def test_compose_reads_what_the_documents_say() -> None:
    """An exception above stays true: compose.yaml reads it, and Omni itself does not know it."""
    text = (ROOT / "compose.yaml").read_text()
    assert {name for name in COMPOSE_SETTINGS if f"${{{name}:" not in text} == set()
    assert COMPOSE_SETTINGS & known_settings() == set()
    assert set(SETTING.findall(text)) - known_settings() == COMPOSE_SETTINGS


def test_code_reads_no_setting_behind_the_configuration() -> None:
    unknown = {}
    for path in [*sorted((ROOT / "omni").rglob("*.py")), *sorted((ROOT / "apps").rglob("*.py"))]:
        names = set(SETTING.findall(path.read_text())) - known_settings()
        if names:
            unknown[str(path.relative_to(ROOT))] = names
    assert unknown == {}


def test_every_relative_link_in_the_documents_leads_somewhere() -> None:
    broken = []
    for path in [*ROOT.glob("*.md"), *sorted(DOCS.rglob("*.md"))]:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", path.read_text()):
            if not (path.parent / target).exists():
                broken.append(f"{path.relative_to(ROOT)} → {target}")
    assert broken == []


@pytest.mark.req("SEC-4")
def test_every_audited_action_is_documented() -> None:
    from apps.registry.models import AuditAction

    text = (DOCS / "security.md").read_text()
    assert {action.value for action in AuditAction if f"`{action.value}`" not in text} == set()


@pytest.mark.req("CON-1")
def test_every_schema_describes_its_fields_and_is_documented() -> None:
    text = "\n".join(path.read_text() for path in sorted(DOCS.rglob("*.md")))
    for path in sorted((ROOT / "omni/contracts/v1").glob("*.schema.json")):
        schema = json.loads(path.read_text())
        assert path.name in text, f"{path.name} is not mentioned in docs/"
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        for name, spec in schema.get("properties", {}).items():
            assert spec.get("description"), f"{path.name}: {name} has no description"


def test_the_repository_names_no_machine() -> None:
    """Neither folders of the machine it was written on nor package registries' hosts."""
    words = ("/wor" + "k/", "/roo" + "t/", "/far" + "m/", "pypi" + ".org", "npmjs" + ".")
    found = []
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        hidden = any(part.startswith(".") and part != ".ci" for part in parts[:-1])
        if hidden or parts == (".git",) or "__pycache__" in parts or not path.is_file():
            continue
        if path.suffix in {".py", ".md", ".txt", ".toml", ".html", ".css", ".js", ".yaml", ""}:
            text = path.read_text(errors="ignore")
            found += [f"{path.relative_to(ROOT)}: {word}" for word in words if word in text]
    assert found == []
