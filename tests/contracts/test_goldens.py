"""Golden documents of every contract: what was accepted or refused once stays so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omni.contracts import catalogue
from omni.contracts.canonical import canonical
from omni.contracts.errors import InvalidInput
from omni.contracts.parsing import parse
from omni.contracts.validation import validate, validate_payload

GOLDEN = Path(__file__).parent / "golden"
DOCUMENTS = [name for name in catalogue.names() if name not in catalogue.SUPPORTING]
VALID = sorted(GOLDEN.rglob("valid-*.json"))
INVALID = sorted(GOLDEN.rglob("invalid-*.json"))


def label(path: Path) -> str:
    return path.relative_to(GOLDEN).with_suffix("").as_posix()


def contract(path: Path) -> str:
    return path.parent.relative_to(GOLDEN).as_posix()


@pytest.mark.req("CON-2")
@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_contract_has_goldens_of_both_kinds(name: str) -> None:
    """A contract without a document that it refuses has not been tried."""
    assert list((GOLDEN / name).glob("valid-*.json"))
    assert list((GOLDEN / name).glob("invalid-*.json"))


@pytest.mark.req("CON-2")
def test_no_golden_is_left_over() -> None:
    assert {contract(path) for path in VALID + INVALID} == set(DOCUMENTS)


@pytest.mark.req("CON-1", "CON-2")
@pytest.mark.parametrize("path", VALID, ids=label)
def test_golden_is_valid_and_survives_a_round_trip(path: Path) -> None:
    """Written canonically and read again it is the same document with the same bytes."""
    document = parse(path.read_bytes())
    validate(contract(path), document)
    written = canonical(document)
    assert parse(written) == document
    assert canonical(parse(written)) == written


@pytest.mark.req("CON-1", "CON-2", "RUN-2")
@pytest.mark.parametrize("path", INVALID, ids=label)
def test_golden_is_refused_at_the_right_place(path: Path) -> None:
    """The error names the JSON Pointer and the rule, for people and for programs."""
    golden: dict[str, Any] = json.loads(path.read_text())
    with pytest.raises(InvalidInput) as caught:
        validate(contract(path), golden["instance"])
    error = caught.value
    assert (error.data["pointer"], error.data["rule"]) == (golden["pointer"], golden["rule"])
    assert golden["pointer"] in error.message
    assert error.data["errors"][golden["pointer"] or "/"]


@pytest.mark.req("CON-1")
@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_example_in_the_schema_is_valid(name: str) -> None:
    examples = catalogue.schema(name)["examples"]
    assert examples
    for example in examples:
        validate(name, example)


@pytest.mark.req("RUN-2")
@pytest.mark.parametrize("name", ["run_created", "tool_call"])
def test_payload_is_found_by_its_kind(name: str) -> None:
    document = json.loads((GOLDEN / "payloads" / name / "valid-1.json").read_text())
    validate_payload(name, None, document)
    with pytest.raises(InvalidInput, match=f"payload of {name}"):
        validate_payload(name, None, {})


@pytest.mark.req("RUN-2")
@pytest.mark.parametrize(
    ("kind", "name", "field"),
    [
        ("thought", None, "kind"),
        ("", None, "kind"),
        ("../../etc", None, "kind"),
        ("system_event", None, "name"),
        ("system_event", "sneezed", "name"),
        ("system_event", "../tool_call", "name"),
        ("tool_call", "state_changed", "name"),
    ],
)
def test_unknown_kinds_and_names_are_refused(kind: str, name: str | None, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        validate_payload(kind, name, {})
    assert list(caught.value.data["errors"]) == [field]


def test_messages_never_repeat_the_value() -> None:
    """A refused document may hold a secret in the wrong place; logs must not get it."""
    with pytest.raises(InvalidInput) as caught:
        validate_payload("user_message", None, {"text": {"password": "hunter2-hunter2"}})
    assert "hunter2" not in f"{caught.value} {caught.value.data}"
