"""The official JSON Schema test suite through the validator that checks tools' schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from omni.contracts.errors import OmniError
from omni.contracts.foreign import ForeignSchema
from tests.conformance.verdict import SHARED, Verdict, absent

NAME = "JSON Schema test suite, 2020-12"
SUITE = SHARED / "json-schema-test-suite" / "tests"
# There formats are remarks only; here they are checked, as tools' authors expect.
BY_CHOICE = {"format.json"}


def judge() -> Iterator[Verdict]:
    files = sorted(SUITE.rglob("*.json"))
    files = [p for p in files if "optional" not in p.parts and p.name not in BY_CHOICE]
    if not files:
        yield absent(NAME, "the suite is not beside the repository")
        return
    right, wrong, refused = 0, [], 0
    for path in files:
        for group in json.loads(path.read_text()):
            if not isinstance(group, dict) or "schema" not in group:
                continue
            got = _group(path, group)
            if got is None:
                refused += len(group["tests"])
                continue
            right += got[0]
            wrong += got[1]
    detail = f"{right} right, {len(wrong)} wrong, {refused} of schemas that we do not take"
    for line in wrong[:10]:
        print(f"          {line}")
    yield Verdict(NAME, not wrong and right > 500, detail)


def _group(path: Path, group: dict[str, Any]) -> tuple[int, list[str]] | None:
    """None for schemas that lead out of themselves or have several identities: refused."""
    schema = group["schema"]
    if isinstance(schema, bool):
        schema = {"allOf": [schema]}
    try:
        checker = ForeignSchema(schema)
    except OmniError:
        return None
    right, wrong = 0, []
    for test in group["tests"]:
        try:
            checker.validate(test["data"])
            valid = True
        except OmniError as error:
            # What no store keeps exactly, such as 1e400, is refused whatever the schema says.
            if error.data.get("rule") in ("number", "json"):
                continue
            valid = False
        if valid == test["valid"]:
            right += 1
        else:
            wrong.append(f"{path.name}: {group['description']}: {test['description']}")
    return right, wrong
