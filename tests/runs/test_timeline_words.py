"""What the timeline says of decisions, budgets and changed files."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest

from apps.runs.eventlog import Event
from apps.runs.timeline.items import Item, item_of
from omni.contracts import catalogue


def told(name: str, **changes: Any) -> Item:
    """The example of the event's own schema, as the timeline shows it."""
    payload = catalogue.schema(f"payloads/system/{name}")["examples"][0] | changes
    event = Event(
        run_id=uuid.uuid4(),
        seq=1,
        kind="system_event",
        name=name,
        payload=payload,
        payload_hash="",
        prev_hash="",
        hash="",
        actor="system",
        at=datetime(2026, 1, 5, tzinfo=UTC),
        schema_version=1,
        idempotency_key=None,
    )
    return item_of(event, "Omni")


@pytest.mark.req("POL-1")
def test_a_decision_says_what_why_and_by_which_rule() -> None:
    item = told("policy_decided")
    assert item.title == "A person is asked: filesystem.write_file"
    assert item.note == "A person looks at changes. (rule writes of default)"
    assert (item.tone, item.group) == ("warn", "tools")
    assert told("policy_decided", effect="deny", rule=None).note.endswith("(default)")
    assert told("policy_decided", rule=None, policy=None).note.endswith("(built-in rule)")


@pytest.mark.req("POL-7")
def test_budgets_are_told_in_amounts() -> None:
    assert told("budget_reserved").title == "Set aside 0.02 USD and 4,000 tokens"
    assert told("budget_settled").title == "Spent 0.0061 USD and 1,830 tokens"
    reached = told("budget_reached")
    assert reached.title == "The budget of the run is reached: 20 steps of 20 steps"
    assert (reached.tone, reached.note) == ("warn", "A person may raise it.")
    assert told("budget_reached", on_reached="fail").tone == "bad"


@pytest.mark.req("TOOL-8")
def test_a_changed_file_leads_to_its_difference() -> None:
    item = told("workspace_changed")
    assert (item.title, item.note) == ("Changed notes.md", "Difference")
    assert (item.shape, len(item.sha256)) == ("artifact", 64)
