"""Guards the released contracts: `python -m omni.contracts.compatibility` checks and records."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from omni.contracts import catalogue
from omni.contracts.narrowing import ANNOTATIONS, Comparison, Schemas
from omni.contracts.upgrade import Shims, shims

MIGRATIONS = catalogue.ROOT.parents[1] / "docs" / "migrations"


def released_file(version: int) -> Path:
    return catalogue.ROOT / f"v{version}" / "released.json"


def released(version: int) -> Schemas:
    """The schemas of a version as they were last released."""
    found: Schemas = json.loads(released_file(version).read_text())
    return found


def present(version: int) -> Schemas:
    """The schemas of a version as they are now, without what only people read."""
    found = (catalogue.schema(name, version) for name in catalogue.names_in(version))
    return {each["$id"]: strip(each) for each in found}


def breaking_changes(old: Schemas, new: Schemas) -> list[str]:
    """What the new schemas refuse and the old ones accepted, one sentence for each place."""
    return list(Comparison(old, new).narrowings())


def missing_migrations(
    changed: dict[int, tuple[str, ...]], *, known: Shims = shims, notes: Path = MIGRATIONS
) -> list[str]:
    """Contracts of a later version that lack a shim from the one before, or a written migration."""
    problems = []
    for version, names in sorted(changed.items()):
        for name in names:
            earlier = [each for each in changed if each < version and name in changed[each]]
            if not earlier:
                continue
            if not known.has(name, max(earlier)):
                problems.append(f"{name}: no shim lifts version {max(earlier)} to {version}.")
            note = notes / f"{name.replace('/', '-')}-v{version}.md"
            if not note.is_file():
                problems.append(f"{name}: docs/migrations/{note.name} is missing.")
    return problems


def strip(node: Any) -> Any:
    """The schema without annotations; names of properties are no annotations."""
    if isinstance(node, list):
        return [strip(each) for each in node]
    if not isinstance(node, dict):
        return node
    kept = {}
    for key, value in node.items():
        if key in ("properties", "$defs"):
            kept[key] = {name: strip(each) for name, each in value.items()}
        elif key in ("enum", "const"):
            kept[key] = value
        elif key not in ANNOTATIONS and not key.startswith("x-"):
            kept[key] = strip(value)
    return kept


def render(schemas: Schemas) -> str:
    """One line for each schema, so that a change of one is a change of one line."""
    rows = (
        f"{json.dumps(identity)}: {json.dumps(schemas[identity], ensure_ascii=False)}"
        for identity in sorted(schemas)
    )
    return "{\n" + ",\n".join(rows) + "\n}\n"


def main() -> int:
    """Refuses a breaking change; records additive ones as released."""
    for version in catalogue.versions():
        new = present(version)
        path = released_file(version)
        problems = breaking_changes(released(version), new) if path.exists() else []
        if problems:
            print("\n".join(problems), file=sys.stderr)
            print(
                f"These changes break documents of version {version}. Make a folder"
                f" v{version + 1} with the changed schemas, a shim in omni/contracts/upgrade.py"
                " and a note in docs/migrations/.",
                file=sys.stderr,
            )
            return 1
        path.write_text(render(new))
        print(f"Version {version}: {len(new)} schemas are recorded as released.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
