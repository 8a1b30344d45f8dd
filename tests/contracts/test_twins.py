"""The typed twins say the same as the schemas, and nobody can change one without the other."""

from __future__ import annotations

from typing import NotRequired, get_origin, get_type_hints

import pytest

from omni.contracts import catalogue, generate
from omni.contracts.problem import Problem
from tests.contracts.conformance import hints, twin

DOCUMENTS = [name for name in catalogue.names() if name not in catalogue.SUPPORTING]


@pytest.mark.req("CON-1")
def test_the_twins_on_disk_are_those_of_the_schemas() -> None:
    """`python -m omni.contracts.generate` would change nothing."""
    written = {path.name: path.read_text() for path in generate.FOLDER.glob("*.py")}
    assert written == generate.render_all()


@pytest.mark.req("CON-1")
@pytest.mark.parametrize("name", DOCUMENTS)
def test_twin_has_the_members_of_the_schema(name: str) -> None:
    document = catalogue.schema(name)
    if "$ref" in document:
        document = catalogue.schema(*catalogue.from_uri(document["$ref"]))
    assert set(hints(twin(name))) == set(document["properties"])
    assert twin(name).__required_keys__ == set(document.get("required", ()))


@pytest.mark.req("CON-1")
def test_the_problem_document_has_its_twin() -> None:
    document = catalogue.schema("problem")
    assert set(get_type_hints(Problem)) == set(document["properties"])
    known = get_type_hints(Problem, include_extras=True)
    needed = {key for key, hint in known.items() if get_origin(hint) is not NotRequired}
    assert needed == set(document["required"])
