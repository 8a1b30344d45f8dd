"""The house rules that a linter cannot see: foreign keys, sizes, silent hooks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.db.models import ForeignObjectRel

ROOT = Path(__file__).resolve().parents[2]
APP_FLOOR = {"registry": 0, "tools": 1, "memory": 1, "runs": 2, "marketplace": 3}
MAX_FILE = 500
MAX_FUNCTION = 60


def sources() -> Iterator[Path]:
    for folder in ("omni", "apps"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def test_foreign_keys_only_point_down() -> None:
    """A row may refer to its own floor's app or a lower one; upward references are UUID columns."""
    wrong = []
    for model in apps.get_models():
        floor = APP_FLOOR.get(model._meta.app_label)
        if floor is None:
            continue
        for field in model._meta.get_fields():
            target = field.related_model
            if isinstance(field, ForeignObjectRel) or target is None or isinstance(target, str):
                continue
            other = APP_FLOOR.get(target._meta.app_label)
            sideways = other == floor and target._meta.app_label != model._meta.app_label
            if other is not None and (other > floor or sideways):
                wrong.append(f"{model._meta.label}.{field.name} → {target._meta.label}")
    assert wrong == []


def test_every_app_of_the_house_is_installed_and_no_other() -> None:
    ours = {a.label for a in apps.get_app_configs() if a.name.startswith("apps.")}
    assert ours == set(APP_FLOOR)


def test_no_file_is_too_long() -> None:
    sizes = {p.relative_to(ROOT): len(p.read_text().splitlines()) for p in sources()}
    assert {str(p): n for p, n in sizes.items() if n > MAX_FILE} == {}


def test_no_function_is_too_long() -> None:
    long = {}
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_FUNCTION:
                    long[f"{path.relative_to(ROOT)}:{node.name}"] = length
    assert long == {}


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in sources()
        if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


@pytest.mark.parametrize("word", ["utils", "helpers", "misc", "common"])
def test_no_room_has_a_vague_name(word: str) -> None:
    assert [
        str(p.relative_to(ROOT)) for p in sources() if word in p.relative_to(ROOT).parts[-1]
    ] == []


WRITERS = {
    "save", "delete", "create", "update", "bulk_create", "bulk_update", "update_or_create",
    "get_or_create", "asave", "adelete", "acreate", "aupdate", "abulk_create", "abulk_update",
    "aupdate_or_create", "aget_or_create", "add", "remove", "set", "clear",
}  # fmt: skip
DOORS = {"views", "api", "admin", "management", "selectors", "tasks", "consumers", "forms"}
# Words that are no rows: sets and dictionaries, a digest, the cache, a form that sends a mail.
NO_ROWS = {
    "found.add", "seen.add", "obj.__dict__.update", "created.update", "digest.update",
    "cache.set", "form.save",
}  # fmt: skip


def writes(source: str) -> Iterator[tuple[int, str]]:
    """Calls that write a row, whatever they are called on: a row, a query set, `Model(…)`."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        called = ast.unparse(node.func)
        if node.func.attr in WRITERS and called not in NO_ROWS:
            yield node.lineno, called


def is_door(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    if parts[:2] == ("omni", "workspace"):
        return True
    names = {part.removesuffix(".py") for part in parts}
    return parts[0] == "apps" and bool(names & DOORS) and "services" not in names


def test_only_services_write_rows() -> None:
    """Doors parse and render; rows change in `services` (and in the admin, through them)."""
    found = [
        f"{path.relative_to(ROOT)}:{line} {called}"
        for path in sources()
        if is_door(path)
        for line, called in writes(path.read_text())
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "row.save()", "row.delete()", "rows.update(a=1)", "Model(a=1).save()",
        "Model.objects.filter(a=1).delete()", "Model.objects.create(a=1)",
        "Model.objects.bulk_update(rows, ['a'])", "user.groups.set(groups)",
    ],
)  # fmt: skip
def test_every_way_to_write_is_seen(source: str) -> None:
    assert [called for _, called in writes(source)]
