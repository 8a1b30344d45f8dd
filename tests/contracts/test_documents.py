"""The contracts are in the documentation, complete and in step with the schemas."""

from __future__ import annotations

import re

import pytest

from omni.contracts import catalogue
from omni.contracts.description import describe
from omni.contracts.document import FOLDER, render


@pytest.mark.req("CON-3")
@pytest.mark.parametrize("file", ["events.md", "schemas.md"])
def test_the_documents_are_in_step_with_the_schemas(file: str) -> None:
    """`python -m omni.contracts.document` would change nothing."""
    assert (FOLDER / file).read_text() == render(file)


@pytest.mark.req("CON-3", "RUN-2")
def test_every_event_is_documented_with_time_fields_and_example() -> None:
    """Each kind and each name has its meaning, when it is written, all its fields, an example."""
    text = (FOLDER / "events.md").read_text()
    sections = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", text, re.M | re.S))
    kinds = set(catalogue.event_kinds()) - {"system_event"}
    assert set(sections) == kinds | set(catalogue.system_event_names())
    for name in catalogue.names():
        if name.startswith("payloads/"):
            section = sections[name.rpartition("/")[2]]
            description = describe(name)
            assert description.meaning in section
            assert f"**Written:** {description.written}" in section
            assert "```json" in section
            for field in description.shapes[0].fields:
                assert f"| `{field.name}` |" in section


@pytest.mark.req("CON-3")
def test_every_contract_is_documented_with_every_field() -> None:
    text = (FOLDER / "schemas.md").read_text()
    sections = dict(re.findall(r"^## ([a-z-]+)\n(.*?)(?=^## |\Z)", text, re.M | re.S))
    for name in catalogue.names():
        if name.startswith("payloads/"):
            continue
        for shape in describe(name).shapes:
            for field in shape.fields:
                assert field.meaning, f"{name}: {field.name}"
                assert f"| `{field.name}` |" in sections[name]


@pytest.mark.req("CON-3")
def test_a_field_says_what_explains_its_type() -> None:
    fields = {field.name: field for field in describe("run-event").shapes[0].fields}
    assert (fields["run_id"].schema, fields["run_id"].anchor) == ("shapes", "uuid")
    assert (fields["kind"].schema, fields["kind"].anchor) == ("run-event", "kind")
    assert fields["seq"].schema == ""
    artifact = {field.name: field for field in describe("payloads/user_message").shapes[0].fields}
    assert artifact["attachments"].schema == "artifact-ref"
